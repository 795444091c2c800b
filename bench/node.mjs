// The benchmark in Node: prints the result as JSON. Run by run.mjs, in a process of its own.
import { openDawn } from '../tools/dawn.ts';
import { measure } from './measure.mjs';

const gpu = await openDawn();
if (!gpu) throw new Error('bench: Dawn does not load here; use --in page.');
console.log(JSON.stringify(await measure(gpu, JSON.parse(process.argv[2] ?? '{}'))));
process.exit(0); // Dawn keeps the process alive
