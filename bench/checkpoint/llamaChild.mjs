// Draws with llama.cpp, as node-llama-cpp carries it; run by ../drawing.mjs, in a process of its own. Prints a line of JSON.
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { stopwatch } from './machine.mjs';

const { peers, model: file, prompt, rows, steps, threads } = JSON.parse(process.argv[2] ?? '{}');
const entry = path.join(peers, 'node_modules/node-llama-cpp/dist/index.js');
const { getLlama, LlamaLogLevel } = await import(pathToFileURL(entry).href);
const llama = await getLlama({ gpu: false, build: 'never', maxThreads: threads, logLevel: LlamaLogLevel.error });
const model = await llama.loadModel({ modelPath: file });
const ids = model.tokenize(prompt, false);
const context = await model.createContext({ sequences: rows, contextSize: ids.length + steps + 8, threads, batchSize: Math.max(512, rows) }); // prettier-ignore
const reading = stopwatch();
const drawn = await Promise.all(
  Array.from({ length: rows }, async () => {
    const draws = context.getSequence().evaluate(ids, { temperature: 0, yieldEogToken: true });
    return { draws, ids: [(await draws.next()).value] };
  }),
);
const read = reading();
const drawing = stopwatch();
await Promise.all(
  drawn.map(async ({ draws, ids: own }) => {
    for (let i = 0; i < steps; i++) {
      const { value, done } = await draws.next();
      if (done) return;
      own.push(value);
    }
  }),
);
const took = drawing();
const count = drawn.reduce((sum, { ids: own }) => sum + own.length - 1, 0);
const text = model.detokenize(drawn[0]?.ids ?? []);
console.log(JSON.stringify({ backend: `llama.cpp, ${threads} threads`, prompt: ids.length, read, took, count, text }));
process.exit(0);
