// node bench/adapters.mjs --model FILE.gguf [--slots shared-1,alone-1,torch-1,torch-2] [--rounds 3] [--groups 8] [--group 4] [--common 134]
//   [--question 16] [--own 100] [--micro 8] [--attention sdpa] [--checkpointing 0] [--python FILE] [--tree DIR] [--before DIR]
//   [--under 'taskset -c 1'] [--raw FILE]
// Times one update of adapters beside SmolLM2-135M (rank 8, all seven linears): scoring old log-probabilities, GRPO, the way back, AdamW; against PyTorch
// eager with PEFT on the same weights, tokens and objective, in float32. Slots run in turns, each in a process of its own.
//   shared-N  the CPU backend, what rows begin with run once        torch-N  PyTorch with N threads, --micro rows at a time
//   alone-N   the CPU backend, every row by itself                  gpu      the GPU engine through Dawn, on the driver the environment names
//   before-N  shared-N with the sources of another working tree, --before
// N is a number of threads. Of the 32 rows all begin with --common tokens, those of a group with --question more; --own are
// a row's. PyTorch is that of `npm run test:python` (make it once: npm run test:python -- --install), or --python names an interpreter with torch,
// transformers, peft and gguf. --tree bundles the sources of another working tree of this project; --under runs each
// slot under another program; --raw appends each record to a file.
import { spawnSync } from 'node:child_process';
import { existsSync, rmSync } from 'node:fs';
import path from 'node:path';
import { useSwiftShader } from '../scripts/browser.mjs';
import { bundle, root } from './bundle.mjs';
import { modelFile, read, refuse } from './checkpoint/arguments.mjs';
import { inTurns, placed } from './checkpoint/slots.mjs';
import { updateTable } from './checkpoint/updateTable.mjs';

const flags = read(import.meta.url, {
  ...{
    model: '',
    slots: 'shared-1,alone-1,torch-1,torch-2',
    rounds: 3,
    groups: 8,
    group: 4,
    common: 134,
    question: 16,
  },
  ...{
    own: 100,
    micro: 8,
    attention: 'sdpa',
    checkpointing: 0,
    python: '',
    tree: root,
    before: '',
    under: '',
    raw: '',
  },
});
const model = modelFile(flags.model);
const { groups, group, common, question, own } = flags;
const sizes = { groups, group, common, question, own };
const python = flags.python || path.join(root, 'node_modules/.cache/python/environment/bin/python');
const cache = path.join(root, 'node_modules/.cache', `bench-adapters-${process.pid}`);
const folder = path.join(cache, 'case');
const names = flags.slots.split(',');
const stray = names.find((name) => !/^((shared|alone|torch|before)-[1-9]\d?|gpu)$/.test(name));
if (stray !== undefined) refuse(`--slots can’t be ${stray}. Use shared-N, alone-N, before-N, torch-N or gpu.`);
if (names.some((name) => name.startsWith('torch')) && !existsSync(python)) {
  refuse(`${python} is not there; make it (npm run test:python -- --install), name one (--python), or leave torch out of --slots.`); // prettier-ignore
}
if (names.some((name) => name.startsWith('before')) && flags.before === '')
  refuse('--before is missing. Name a folder.');
if (process.platform === 'linux') useSwiftShader(); // where no driver is named

/** @param {string} name @param {string} program @param {string} before @returns {import('./checkpoint/slots.mjs').Slot} */
function slotOf(name, program, before) {
  const [kind = '', threads = '1'] = name.split('-');
  if (kind === 'torch') {
    const first = names.find((each) => !each.startsWith('torch'));
    const ours = first ? path.join(folder, `found-${first}.safetensors`) : '-';
    const given = [model, folder, ours, threads, String(flags.micro), flags.attention, String(flags.checkpointing)];
    const env = {
      OMP_NUM_THREADS: threads,
      HF_HUB_OFFLINE: '1',
      PYTHONDONTWRITEBYTECODE: '1',
      PYTHONWARNINGS: 'ignore',
    };
    return { name, command: python, args: [path.join(root, 'bench/checkpoint/update_in_torch.py'), ...given], env };
  }
  const engine = kind === 'gpu' ? 'gpu' : 'cpu';
  const options = { model, sizes, folder, slot: name, engine, share: kind !== 'alone', threads: Number(threads) };
  return { name, command: process.execPath, args: [kind === 'before' ? before : program, JSON.stringify(options)] };
}

try {
  const entry = 'checkpoint/updateChild.mjs';
  const program = await bundle(entry, path.join(cache, 'program'), true, flags.tree);
  const before = flags.before ? await bundle(entry, path.join(cache, 'before'), true, flags.before) : '';
  const write = { model, sizes, folder, write: true };
  const written = spawnSync(process.execPath, [program, JSON.stringify(write)], { stdio: ['ignore', 'pipe', 'inherit'] }); // prettier-ignore
  if (written.status !== 0) throw new Error('bench: the batch could not be written.');
  const shape = JSON.parse(written.stdout.toString()).model;
  const slots = names.map((name) => slotOf(name, program, before));
  const raw = flags.raw ? path.resolve(process.env['INIT_CWD'] ?? '.', flags.raw) : null;
  const records = await inTurns(
    slots.map((slot) => placed(slot, flags.under)),
    flags.rounds,
    raw,
    ({ slot, round, whole, load }) => {
      const { s, cpuS } = /** @type {import('./checkpoint/machine.mjs').Took} */ (whole);
      console.error(
        `round ${round}, ${slot}: ${s.toFixed(1)} s, of processors ${cpuS.toFixed(1)} s, load ${String(load)}`,
      );
    },
  );
  console.log(
    `${groups * group} rows of ${common + question + own} tokens, ${common} of them all rows', ${question} a group's`,
  );
  console.log(updateTable(records, { model: shape, sizes, rank: 8 }));
} catch (error) {
  console.error(error instanceof Error ? error.message : String(error));
  process.exitCode = 1;
} finally {
  rmSync(cache, { recursive: true, force: true });
}
