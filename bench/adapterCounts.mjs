// node bench/adapterCounts.mjs --model FILE.gguf [--rows 1] [--steps 4] [--groups 8] [--group 4] [--common 134] [--question 16] [--own 100]
//   [--shares .2,.4] [--tree DIR] [--raw FILE]
// Counts of the GPU engine that hold on any adapter, of an update of adapters beside SmolLM2-135M and of drawing from it: dispatches, submits, read-backs,
// arithmetic, least traffic; and PREDICTIONS from them for three classes of GPUs that nobody measured. An update of --rows rows is run to hold the plans to
// what is counted; that of all rows is counted by its plans. Runs in Dawn on the driver the environment names, else on SwiftShader: minutes, most of it compiling.
import { rmSync } from 'node:fs';
import path from 'node:path';
import { useSwiftShader } from '../scripts/browser.mjs';
import { bundle, root } from './bundle.mjs';
import { modelFile, read } from './checkpoint/arguments.mjs';
import { countsText } from './checkpoint/countsText.mjs';
import { inTurns } from './checkpoint/slots.mjs';

const flags = read(import.meta.url, {
  ...{ model: '', rows: 1, steps: 4, groups: 8, group: 4, common: 134, question: 16, own: 100, shares: '.2,.4' },
  ...{ tree: root, raw: '' },
});
const model = modelFile(flags.model);
const { groups, group, common, question, own, rows, steps } = flags;
const cache = path.join(root, 'node_modules/.cache', `bench-counts-${process.pid}`);
if (process.platform === 'linux') useSwiftShader(); // where no driver is named

try {
  const program = await bundle('checkpoint/countsChild.mjs', cache, true, flags.tree);
  const options = JSON.stringify({ model, rows, steps, sizes: { groups, group, common, question, own } });
  const raw = flags.raw ? path.resolve(process.env['INIT_CWD'] ?? '.', flags.raw) : null;
  const slot = { name: 'counts', command: process.execPath, args: [program, options] };
  await inTurns([slot], 1, raw, (record) => console.log(countsText(record, flags.shares.split(',').map(Number))));
} catch (error) {
  console.error(error instanceof Error ? error.message : String(error));
  process.exitCode = 1;
} finally {
  rmSync(cache, { recursive: true, force: true });
}
