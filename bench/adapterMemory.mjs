// node bench/adapterMemory.mjs --model FILE.gguf [--run open] [--groups 8] [--group 4] [--common 134] [--question 16]
//   [--own 100] [--limit 2] [--threads 1] [--tree DIR] [--raw FILE]
// What an update of adapters beside SmolLM2-135M takes of memory on the CPU: the estimate by part, what is really taken (arrays in WebAssembly's memory, buffers
// beside it, growth of the process), what it would be if nothing were computed anew, and whether 64 rows of 512 tokens fit in --limit GB,
// as they are opened where nothing is said and where that is all there is.
// --run estimate opens nothing, open opens the policies, update takes an update of the rows too (minutes), large one of the 64 rows within
// the limit and of nothing else (a quarter of an hour).
import path from 'node:path';
import { rmSync } from 'node:fs';
import { bundle, root } from './bundle.mjs';
import { modelFile, read, refuse } from './checkpoint/arguments.mjs';
import { memoryText } from './checkpoint/memoryText.mjs';
import { inTurns } from './checkpoint/slots.mjs';

const flags = read(import.meta.url, {
  ...{ model: '', run: 'open', groups: 8, group: 4, common: 134, question: 16, own: 100, limit: 2, threads: 1 },
  ...{ tree: root, raw: '' },
});
if (!['estimate', 'open', 'update', 'large'].includes(flags.run))
  refuse(`--run can’t be ${flags.run}. Use estimate, open, update or large.`);
const model = modelFile(flags.model);
const { groups, group, common, question, own, run, threads } = flags;
const cache = path.join(root, 'node_modules/.cache', `bench-memory-${process.pid}`);
const LARGE = { groups: 16, group: 4, common: 134, question: 16, own: 362 }; // 64 rows of 512 tokens

try {
  const program = await bundle('checkpoint/memoryChild.mjs', cache, true, flags.tree);
  /** @param {string} name @param {object} sizes @param {string} run @param {number} [mostBytes] */
  const slot = (name, sizes, run, mostBytes) => ({
    name,
    command: process.execPath,
    args: ['--expose-gc', program, JSON.stringify({ model, sizes, run, threads, mostBytes })],
  });
  const given = (/** @type {string} */ how) =>
    slot(`64 rows of 512, given ${flags.limit} GB`, LARGE, how, flags.limit * 1e9);
  const opening = run === 'estimate' ? 'estimate' : 'open';
  const slots =
    run === 'large'
      ? [given('update')]
      : [
          slot('the update', { groups, group, common, question, own }, run),
          slot('64 rows of 512', LARGE, opening),
          given(opening),
        ];
  const raw = flags.raw ? path.resolve(process.env['INIT_CWD'] ?? '.', flags.raw) : null;
  await inTurns(slots, 1, raw, (record) => console.log(memoryText(record, flags.limit)));
} catch (error) {
  console.error(error instanceof Error ? error.message : String(error));
  process.exitCode = 1;
} finally {
  rmSync(cache, { recursive: true, force: true });
}
