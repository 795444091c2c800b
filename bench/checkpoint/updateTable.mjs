// Updates of adapters as text: each slot's medians and least times, its stages, arithmetic and memory.
import { alone, flopsOf } from './flops.mjs';
import { over } from './slots.mjs';

/** @typedef {import('./slots.mjs').Record_} Record_ */

const gb = (/** @type {number} */ bytes) => `${(bytes / 1e9).toFixed(2)} GB`;
const s = (/** @type {number} */ x) => x.toFixed(x < 10 ? 2 : 1);

/** FLOPs by part of a record, as `stages.mjs` and the other side name them. @param {any} record @param {any} model @param {any} sizes @param {number} rank */
function flopsByPart(record, model, sizes, rank) {
  const rows = sizes.groups * sizes.group;
  const length = sizes.common + sizes.question + sizes.own;
  const targets = rows * sizes.own;
  const sum = (/** @type {any[]} */ trees) => {
    return trees.reduce((all, tree) => ({ nodes: all.nodes + tree.nodes, pairs: all.pairs + tree.pairs, targets: all.targets + tree.targets }), { nodes: 0, pairs: 0, targets: 0 }); // prettier-ignore
  };
  const ours = record.trees !== undefined;
  const anew = ours && record.trees.some((/** @type {any} */ tree) => tree.nodes > record.keptTokens); // none keeps all of its layers
  const of = (/** @type {any} */ work) => flopsOf(model, rank, work);
  const scored = of(ours ? sum(record.trees.filter((/** @type {any} */ tree) => !tree.anew)) : alone(rows, length, targets)); // prettier-ignore
  const again = of(ours ? sum(record.trees.filter((/** @type {any} */ tree) => tree.anew)) : alone(rows, length, targets)); // prettier-ignore
  const learned = of(ours ? { ...sum(record.trees.filter((/** @type {any} */ tree) => !tree.anew)), targets } : alone(rows, length, targets)); // prettier-ignore
  const beside = ours ? 0 : 1;
  return {
    'scoring, forward': scored.forward + beside * scored.beside,
    'scoring, head': scored.head,
    'learning, forward': again.forward + beside * again.beside,
    'learning, head': ours ? again.head : learned.head,
    'learning, head back': learned.headBackward + (ours ? learned.head : 0),
    'learning, back': learned.headBackward + learned.head + learned.anew + learned.backward, // where parts are not told apart
    'learning, layers anew': anew ? learned.anew : 0,
    'learning, layers back': learned.backward,
    'learning, merging': learned.merge,
    'learning, optimizer': learned.adamW,
  };
}

/** The best product that a side measured, GFLOP/s. @param {any} record */
const best = (record) => Math.max(record.ceilings?.gflops ?? 0, ...Object.values(record.products ?? {}).map(Number));

/** @param {readonly Record_[]} records of one slot @param {{ model: any, sizes: any, rank: number }} of */
function lines(records, { model, sizes, rank }) {
  const [first] = /** @type {any[]} */ (records);
  const whole = over(records, ({ whole }) => whole.s);
  const cpu = over(records, ({ whole }) => whole.cpuS);
  const flops = flopsByPart(first, model, sizes, rank);
  const parts = Object.keys(first.parts).map((name) => {
    const [time, processors] = [over(records, ({ parts }) => parts[name].s).best, over(records, ({ parts }) => parts[name].cpuS).best]; // prettier-ignore
    const work = /** @type {Record<string, number>} */ (flops)[name] ?? 0;
    const rate = work > 0 ? `, ${(work / 1e9).toFixed(0)} GFLOP, ${(work / processors / 1e9).toFixed(1)} a processor second` : ''; // prettier-ignore
    return `      ${name.padEnd(24)} ${s(time).padStart(7)} s, of processors ${s(processors).padStart(6)}${rate}`;
  });
  const did = Object.entries(flops).reduce((sum, [name, x]) => sum + (first.parts[name] ? x : 0), 0);
  const top = over(records, (record) => -best(record));
  const threads = Number(/\d+$/.exec(first.slot)?.[0] ?? 1);
  const share = (/** @type {number} */ rate) => `${((100 * rate) / 1e9 / -top.best).toFixed(0)} %`;
  // a graphics driver's best product is not measured
  const ofBest = top.best === 0 ? '' : `; best product ${(-top.best).toFixed(1)} GFLOP/s, of which ${share(did / whole.best)} by the clock, ${share((threads * did) / cpu.best)} by processors`; // prettier-ignore
  const loads = records.map(({ load }) => /** @type {number[]} */ (load).map((x) => x.toFixed(1)).join('→')).join(' ');
  const { memory, apart } = first;
  return [
    `  ${first.slot}: ${first.backend}`,
    `      update ${s(whole.median)} s, least ${s(whole.best)}, n ${whole.n}; of processors ${s(cpu.median)} s, least ${s(cpu.best)}; load ${loads}`,
    `      ${(did / 1e9).toFixed(0)} GFLOP, ${(did / whole.best / 1e9).toFixed(1)} GFLOP/s, ${(did / cpu.best / 1e9).toFixed(1)} a processor second${ofBest}`, // prettier-ignore
    ...parts,
    `      memory: peak ${gb(memory.peak)}${memory.estimate ? `, reserved ${gb(memory.estimate)}` : ''}, grown by ${gb(memory.grown)}`,
    `      loss ${Number(first.loss).toExponential(4)}, gradient ${Number(first.gradNorm).toFixed(5)}${
      apart ? `; from ours: gradients ${apart.whole.toExponential(1)} of their length (worst tensor ${apart.worst.toExponential(1)}), log p ${apart.logprobs.toExponential(1)}` : '' // prettier-ignore
    }`,
  ];
}

/** @param {readonly Record_[]} records @param {{ model: any, sizes: any, rank: number }} of */
export function updateTable(records, of) {
  const names = [...new Set(records.map(({ slot }) => slot))];
  const text = names.flatMap((name) => lines(records.filter(({ slot }) => slot === name), of)); // prettier-ignore
  const time = (/** @type {string} */ name) => over(records.filter(({ slot }) => slot === name), ({ whole }) => whole.s); // prettier-ignore
  const cpu = (/** @type {string} */ name) => over(records.filter(({ slot }) => slot === name), ({ whole }) => whole.cpuS); // prettier-ignore
  const times = names
    .filter((name) => name.startsWith('torch'))
    .flatMap((peer) => names.filter((name) => !name.startsWith('torch')).map((own) => `  ${own} takes ${(time(own).median / time(peer).median).toFixed(2)} times ${peer}, least times ${(time(own).best / time(peer).best).toFixed(2)}, processors ${(cpu(own).best / cpu(peer).best).toFixed(2)}`)); // prettier-ignore
  return [...text, ...times].join('\n');
}
