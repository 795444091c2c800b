// One update of adapters beside a checkpoint, timed by stage; run by ../adapters.mjs, in a process of its own. Prints a line of JSON.
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { peftFiles } from '../../src/checkpoints/peft.ts';
import { encodeSafetensors } from '../../src/formats/safetensors.ts';
import { adapterParameters } from '../../src/model/loraAdapters.ts';
import { ADAPTERS, adapters, advantages, batch, OBJECTIVE, OPTIMIZER, texts } from './batch.mjs';
import { load, resident, stopwatch, took } from './machine.mjs';
import { openFile, openPolicy, specOf } from './openPolicy.mjs';
import { listen } from './stages.mjs';
import { planOf, prepare } from './trees.mjs';

/** @typedef {{ model: string, sizes: import('./batch.mjs').Sizes, folder: string, write: boolean, slot: string, engine: string, share: boolean, threads: number }} Options */

/** What the other side reads: the batch, and adapters as PEFT has them. @param {any} base @param {Options} options */
function writeCase(base, { sizes, folder }) {
  mkdirSync(folder, { recursive: true });
  const { model } = specOf(base, 1, 1);
  for (const [file, bytes] of peftFiles(model, ADAPTERS, adapters(model), null)) {
    writeFileSync(path.join(folder, file), bytes);
  }
  const prompt = sizes.common + sizes.question;
  const given = { tokens: texts(base, sizes), prompt, advantages: advantages(sizes), objective: OBJECTIVE, optimizer: OPTIMIZER }; // prettier-ignore
  writeFileSync(path.join(folder, 'batch.json'), JSON.stringify(given));
}

/** Gradients and log-probabilities for the other side to compare with. @param {any} policy @param {Options} options @param {any} report */
function writeFound(policy, { folder, slot }, report) {
  const gradients = policy.gradients();
  const tensors = new Map(
    adapterParameters(policy.model, ADAPTERS).map(({ name, shape }) => [name, { shape, values: gradients.get(name) }]),
  );
  tensors.set('logprobs', { shape: [policy.rows, policy.length], values: report.logprobs });
  writeFileSync(path.join(folder, `found-${slot}.safetensors`), new Uint8Array(encodeSafetensors(tensors)));
}

/** Scores and learns once. @param {any} policy @param {any} base @param {import('./batch.mjs').Sizes} sizes @param {number} [only] */
async function update(policy, base, sizes, only) {
  policy.writeWeights(adapters(policy.model));
  const { record, given } = batch(base, sizes, only);
  policy.load(record, given);
  const heard = listen(policy);
  const all = stopwatch();
  const scoring = await took(async () => {
    await policy.score(1, { reference: false, values: false });
    await policy.whenIdle();
  });
  heard.enter('learning');
  const rows = Int32Array.from({ length: only ?? policy.rows }, (_, row) => row);
  const learning = await took(async () => {
    await policy.learn(rows, OBJECTIVE, OPTIMIZER, 1);
    await policy.whenIdle();
  });
  return { whole: all(), scoring, learning, parts: heard.took, trees: heard.trees };
}

/** @param {Options} options */
async function main(options) {
  const { model, sizes, write } = options;
  const base = await openFile(model);
  if (write) {
    writeCase(base, options);
    return { model: base.model };
  }
  const empty = resident();
  const opened = stopwatch();
  const rows = sizes.groups * sizes.group;
  const spec = specOf(base, rows, sizes.common + sizes.question + sizes.own);
  const policy = await openPolicy(base, spec, options);
  const opening = opened();
  await update(policy, base, sizes, 1); // what compiles, compiles
  const before = policy.counters();
  const now = () => performance.now();
  const begun = load();
  if (options.engine === 'cpu') policy.startProfile(now);
  const found = await update(policy, base, sizes);
  const memory = resident();
  const after = policy.counters();
  const counts = Object.fromEntries(Object.entries(after).map(([key, value]) => [key, value - before[/** @type {keyof typeof before} */ (key)]])); // prettier-ignore
  const report = await policy.report();
  writeFound(policy, options, report);
  const { policyLoss, gradNorm, tokens } = report.steps.at(-1) ?? {};
  const profile = options.engine === 'cpu' ? await policy.profile(now) : null;
  return {
    ...{ backend: policy.backend.adapter, opening, ...found, counts, load: [begun, load()] },
    ...{ memory: { estimate: policy.memoryBytes, peak: memory.most, grown: memory.most - empty.now } },
    ...{
      loss: policyLoss,
      gradNorm,
      tokens,
      keptTokens: options.engine === 'cpu' ? planOf(spec, base.weights).keptTokens : 0,
      kernels: profile?.kernels,
      ceilings: profile?.ceilings,
    },
  };
}

prepare();
console.log(JSON.stringify(await main(JSON.parse(process.argv[2] ?? '{}'))));
process.exit(0); // Dawn keeps the process alive
