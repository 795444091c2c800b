// node bench/drawing.mjs --model FILE.gguf [--slots ours-1x1,llama-1x1,ours-64x1,llama-64x1] [--rounds 3] [--steps 48] [--peers DIR] [--tree DIR]
//   [--before DIR] [--under 'taskset -c 1'] [--raw FILE]
// Tokens a second drawn greedily from a checkpoint on the CPU, the same file and prompt, beside llama.cpp and wllama; slots run in turns, each in a process of
// its own. A slot is WHO-ROWSxTHREADS:
//   ours    this project in Node             llama   llama.cpp, the binary that node-llama-cpp carries
//   page    this project in a page, one thread   wllama  wllama in such a page (several threads: the page is isolated)
//   before  `ours` with the sources of another working tree, --before
// Peers are no dependencies. Install them once:
//   npm install --prefix node_modules/.cache/bench-peers --ignore-scripts node-llama-cpp@3.22.1 @wllama/wllama@3.13.0
// Where the processor has AMX delete libggml-cpu-sapphirerapids.so under node_modules/@node-llama-cpp there first: it has crashed in it.
import { existsSync, rmSync } from 'node:fs';
import path from 'node:path';
import { bundle, root } from './bundle.mjs';
import { modelFile, read, refuse } from './checkpoint/arguments.mjs';
import { drawTable } from './checkpoint/drawTable.mjs';
import { inTurns, placed } from './checkpoint/slots.mjs';

const PROMPT = 'Once upon a time, in a small village by the sea, there lived an old fisherman who';
const flags = read(import.meta.url, {
  ...{ model: '', slots: 'ours-1x1,llama-1x1,ours-64x1,llama-64x1', rounds: 3, steps: 48 },
  ...{ peers: path.join(root, 'node_modules/.cache/bench-peers'), tree: root, before: '', under: '', raw: '' },
});
const model = modelFile(flags.model);
const cache = path.join(root, 'node_modules/.cache', `bench-drawing-${process.pid}`);
const names = flags.slots.split(',');
const stray = names.find((name) => !/^(ours|before|page|llama|wllama)-\d+x\d+$/.test(name));
if (stray !== undefined)
  refuse(`--slots can’t be ${stray}. Use WHO-ROWSxTHREADS, WHO one of ours, before, page, llama, wllama.`);
if (names.some((name) => /^page-\d+x(?!1$)/.test(name))) {
  refuse('--slots can’t be page in several threads. Use page-ROWSx1: where a page itself draws, as here, no thread may wait for another.'); // prettier-ignore
}
if (names.some((name) => name.includes('llama')) && !existsSync(path.join(flags.peers, 'node_modules'))) {
  refuse(`${flags.peers} has no node_modules; --help says how peers are installed.`);
}
if (names.some((name) => name.startsWith('before')) && flags.before === '')
  refuse('--before is missing. Name a folder.');

try {
  const entry = 'checkpoint/drawChild.mjs';
  const program = await bundle(entry, path.join(cache, 'node'), true, flags.tree);
  const before = flags.before ? await bundle(entry, path.join(cache, 'before'), true, flags.before) : '';
  const page = names.some((name) => name.startsWith('page')) ? await bundle('checkpoint/drawRows.mjs', path.join(cache, 'page'), false, flags.tree) : ''; // prettier-ignore
  const here = (/** @type {string} */ file) => path.join(root, 'bench/checkpoint', file);
  const programs = { ours: program, before, llama: here('llamaChild.mjs'), page: here('pageChild.mjs'), wllama: here('pageChild.mjs') }; // prettier-ignore
  const slots = names.map((name) => {
    const [, who = '', rows, threads] = /^(\w+)-(\d+)x(\d+)$/.exec(name) ?? [];
    const drawing = { prompt: PROMPT, rows: Number(rows), steps: flags.steps, threads: Number(threads) };
    const options = JSON.stringify({ ...drawing, model, who, bundle: page, peers: flags.peers });
    return { name, command: process.execPath, args: [programs[/** @type {keyof typeof programs} */ (who)], options] };
  });
  const raw = flags.raw ? path.resolve(process.env['INIT_CWD'] ?? '.', flags.raw) : null;
  const records = await inTurns(
    slots.map((slot) => placed(slot, flags.under)),
    flags.rounds,
    raw,
    (record) => {
      const { slot, round, count, took, loadAfter } = /** @type {any} */ (record);
      console.error(`round ${round}, ${slot}: ${(count / took.s).toFixed(1)} tokens/s, load ${loadAfter.toFixed(1)}`);
    },
  );
  console.log(drawTable(records));
} catch (error) {
  console.error(error instanceof Error ? error.message : String(error));
  process.exitCode = 1;
} finally {
  rmSync(cache, { recursive: true, force: true });
}
