// Draws in Node; run by ../drawing.mjs, in a process of its own. Prints a line of JSON.
import { diskSource } from '../../src/cli/files.ts';
import { drawRows } from './drawRows.mjs';
import { stopwatch } from './machine.mjs';
import { prepare, threaded } from './trees.mjs';

/** GB/s that a copy reads and writes, each; least time of several. */
function copyRate() {
  const [from, to] = [new Float32Array(2 ** 25).fill(1), new Float32Array(2 ** 25)];
  let best = Infinity;
  for (let i = 0; i < 5; i++) {
    const began = performance.now();
    to.set(from);
    best = Math.min(best, performance.now() - began);
  }
  return from.byteLength / best / 1e6;
}

/** @type {import('./drawRows.mjs').Drawing & { model: string }} */
const options = JSON.parse(process.argv[2] ?? '{}');
const source = diskSource(options.model);
if (!source) throw new Error(`bench: ${options.model} is not there.`);
prepare();
const found = await drawRows(source, options, stopwatch, threaded(options.threads));
console.log(JSON.stringify({ ...found, copyGBps: copyRate() }));
process.exit(0);
