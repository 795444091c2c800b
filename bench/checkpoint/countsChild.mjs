// Counts of the GPU engine beside a checkpoint: of an update and of a token drawn; run by ../adapterCounts.mjs, in a process of its own. Prints a line of JSON.
import { adapters, batch, OBJECTIVE, OPTIMIZER } from './batch.mjs';
import { openFile, openPolicy, specOf } from './openPolicy.mjs';

/**
 * @typedef {{ model: string, sizes: import('./batch.mjs').Sizes, rows: number, steps: number }} Options rows: of the update that is really run
 * @typedef {{ flops: number, bytes: number, dispatches: number }} Kernel dispatches of a kernel, and their arithmetic and least traffic, each
 */

const STEP = 128; // tokens by which passes are recorded

/** What plans dispatch, equal ones together, each of them `times` times. @param {readonly any[]} plans @param {number} [times] @returns {Kernel[]} */
function dispatched(plans, times = 1) {
  const all = new Map();
  for (const { dispatches } of plans) {
    for (const { entry, dims } of dispatches) {
      const key = JSON.stringify([entry.name, dims]);
      const kernel = all.get(key) ?? { flops: entry.kernel.flops(dims), bytes: entry.kernel.bytes(dims, entry.float16Aliases), dispatches: 0 }; // prettier-ignore
      kernel.dispatches += times;
      all.set(key, kernel);
    }
  }
  return [...all.values()];
}

/**
 * An update of one tree, by the plans it replays: what is scored, then learned from without another pass forward.
 * @param {any} policy @param {{ nodes: number, scored: number, learned: number }} of
 */
function updateByPlans(policy, { nodes, scored, learned }) {
  const { network } = policy;
  const size = Math.ceil(nodes / STEP) * STEP;
  const plans = network.plans(nodes);
  const named = (/** @type {RegExp} */ label) => plans.filter((/** @type {any} */ plan) => label.test(plan.label));
  const block = Number(named(/^targets 0 score$/)[0].dispatches[0].dims.N);
  const blocks = { scored: Math.ceil(scored / block), learned: Math.ceil(learned / block) };
  const forward = named(new RegExp(`^tree ${size} (embed|layer \\d+|final norm)$`));
  const back = named(new RegExp(`^tree ${size} .*backward$`));
  const kernels = [
    ...dispatched(forward),
    ...dispatched(named(/^targets 0 score$/), blocks.scored + blocks.learned),
    ...dispatched(named(/^targets 0 backward$/), blocks.learned),
    ...dispatched(back),
    ...dispatched(named(/^merge$/)),
  ];
  // scores, what clears gradients and hidden states, gradients read, merged
  const submits = forward.length + back.length + blocks.learned + 5;
  return { kernels, submits, readbacks: 2, size, block };
}

/** The difference of counters over a run. @param {any} policy @param {() => Promise<unknown>} run */
async function counted(policy, run) {
  const before = policy.counters();
  await run();
  const after = policy.counters();
  return Object.fromEntries(Object.keys(after).map((key) => [key, after[key] - before[key]]));
}

/** Draws by the run's own policy: `steps` tokens of every row, greedy; counts of the tokens after the first. @param {any} policy @param {readonly number[]} prompt @param {number} steps */
async function drawing(policy, prompt, steps) {
  const { rows } = policy;
  policy.begin({ key: 1, update: 0, temperature: 1, greedy: true, topK: 0, topP: 1 });
  const chunk = (/** @type {readonly number[]} */ forced, /** @type {number} */ count) =>
    policy.decode({
      ...{ maxTokens: count, forced: Int32Array.from({ length: rows * count }, (_, i) => forced[i % count] ?? 0) },
      ...{ forcedCounts: new Int32Array(rows).fill(forced.length), forcedRoles: new Int32Array(rows).fill(1) },
      ...{ states: new Int32Array(rows), budgets: new Int32Array(rows).fill(1 + steps) },
    });
  await chunk(prompt, prompt.length + 1);
  const counts = await counted(policy, () => chunk([], steps));
  const pass =
    policy.passes.find((/** @type {any} */ { seats, toLogits }) => toLogits && seats >= rows) ?? policy.passes[0];
  return { counts, steps, rows, seats: pass.seats, kernels: dispatched([pass.blocks, pass.toLogits, pass.sample]) };
}

/** @param {Options} options */
async function main({ model, sizes, rows, steps }) {
  const base = await openFile(model);
  const { groups, group, common, question, own } = sizes;
  const spec = specOf(base, groups * group, common + question + own);
  const policy = /** @type {any} */ (await openPolicy(base, spec, { engine: 'gpu', share: true, threads: 1 }));
  policy.writeWeights(adapters(policy.model));
  const { record, given } = batch(base, sizes, rows);
  const update = async () => {
    policy.load(record, given);
    await policy.score(1, { reference: false, values: false });
    await policy.learn(Int32Array.from({ length: policy.rows }, (_, row) => row), OBJECTIVE, OPTIMIZER, 1); // prettier-ignore
  };
  const nodesOf = (/** @type {number} */ count) => common + Math.ceil(count / group) * question + count * own;
  const work = (/** @type {number} */ count) => ({ nodes: nodesOf(count) - count, scored: nodesOf(count) - 1, learned: count * own }); // prettier-ignore
  await update(); // records what it replays
  const ran = { work: work(rows), measured: await counted(policy, update), byPlans: updateByPlans(policy, work(rows)) };
  const whole = { work: work(groups * group), ...updateByPlans(policy, work(groups * group)) };
  const drawn = await drawing(policy, [...record.tokens.subarray(0, 16)], steps);
  const { adapter } = policy.backend;
  return { adapter, memory: policy.memoryBytes, ran, whole, drawn, layers: policy.model.num_hidden_layers };
}

console.log(JSON.stringify(await main(JSON.parse(process.argv[2] ?? '{}'))));
process.exit(0); // Dawn keeps the process alive
