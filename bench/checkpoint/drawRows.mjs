// Draws from a checkpoint on the CPU, greedily, in Node or in a page: tokens a second once the prompt has been read.
import { openCpuTextModel } from '../../src/model/cpu/cpuTextModel.ts';
import { openBase } from '../../src/speaking/textCheckpoint.ts';

/**
 * @typedef {{ prompt: string, rows: number, steps: number, threads: number }} Drawing
 * @typedef {() => import('./machine.mjs').Took | Promise<import('./machine.mjs').Took>} Passed what went by since it was made
 */

const GREEDY = { key: 1, update: 0, temperature: 1, greedy: true, topK: 0, topP: 1 };

/**
 * The prompt's ids are read by every row, a token of each is drawn, and then `maxTokens` more, which are what is timed.
 * @param {import('../../src/formats/byteSource.ts').ByteSource} source the GGUF file
 * @param {Drawing} drawing @param {() => Passed | Promise<Passed>} stopwatch
 * @param {Pick<import('../../src/model/cpu/textMemory.ts').CpuTextModelOptions, 'threads'>} [threads]
 */
export async function drawRows(source, { prompt, rows, steps }, stopwatch, threads = {}) {
  const { model, weights, chatTokenizer } = await openBase(source.name, [{ path: source.name, source }]);
  const ids = chatTokenizer.codec.encode(prompt);
  const length = ids.length + steps + 1;
  const text = await openCpuTextModel(model, weights, { rows, length, ...threads });
  const reading = await stopwatch();
  await text.begin(Array.from({ length: rows }, () => ids));
  const all = Array.from({ length: rows }, (_, row) => row);
  const first = await text.draw(all, { maxTokens: 1, stops: [] }, GREEDY);
  const read = await reading();
  const drawing = await stopwatch();
  const drawn = await text.draw(all, { maxTokens: steps, stops: [] }, GREEDY);
  const took = await drawing();
  const count = drawn.reduce((sum, { ids }) => sum + ids.length, 0);
  const bytes = text.memory.find(({ purpose }) => purpose === 'weights')?.bytes ?? NaN;
  const words = [...(first[0]?.ids ?? []), ...(drawn[0]?.ids ?? [])];
  text.destroy();
  return {
    backend: text.backend,
    prompt: ids.length,
    read,
    took,
    count,
    weightBytes: bytes,
    text: chatTokenizer.codec.decode(words),
  };
}
