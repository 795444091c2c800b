// Where an update's time goes: listens to a policy's passes. Knows names that the policy keeps to itself.
import { stopwatch, together } from './machine.mjs';

/** @typedef {import('./machine.mjs').Took} Took */

const MARKS = 3; // a layer's way back: computed anew, feed-forward, attention

/**
 * The parts of a way back by its marks: head, layers computed anew, layers back; null where it makes other marks.
 * @param {readonly Took[]} marks seconds since its beginning @param {number} layers
 */
function partsOf(marks, layers) {
  const head = marks.length - MARKS * layers;
  if (head < 1) return null;
  const apart = marks.map(({ s, cpuS }, i) => ({ s: s - (marks[i - 1]?.s ?? 0), cpuS: cpuS - (marks[i - 1]?.cpuS ?? 0) })); // prettier-ignore
  const anew = apart.filter((_, i) => i >= head && (i - head) % MARKS === 0);
  const back = apart.filter((_, i) => i >= head && (i - head) % MARKS !== 0);
  return { head: together(apart.slice(0, head)), anew: together(anew), back: together(back) };
}

/**
 * Listens to a policy. `took` has seconds by stage and part, `trees` the passes it made.
 * @param {any} policy an adapted one
 */
export function listen(policy) {
  /** @type {Record<string, Took>} */
  const took = {};
  /** @type {{ nodes: number, pairs: number, targets: number, anew: boolean }[]} */
  const trees = [];
  let stage = 'scoring';
  const add = (/** @type {string} */ name, /** @type {Took} */ more) => (took[name] = together([took[name] ?? { s: 0, cpuS: 0 }, more])); // prettier-ignore
  const { network, layers } = policy.learner;
  const wrap = (/** @type {any} */ owner, /** @type {string} */ name, /** @type {(run: any) => any} */ around) => {
    owner[name] = around(owner[name].bind(owner));
  };
  /** @param {string} name */
  const timed =
    (name) =>
    (/** @type {any} */ run) =>
    async (/** @type {any[]} */ ...given) => {
      const passed = stopwatch();
      const found = await run(...given);
      await policy.whenIdle();
      add(`${stage}, ${name}`, passed());
      return found;
    };
  wrap(network, 'forward', (run) => (/** @type {any[]} */ ...given) => {
    const [{ count, positions, targets }] = given;
    let pairs = 0;
    for (const position of positions) pairs += position + 1;
    trees.push({ nodes: count, pairs, targets: targets.count, anew: stage !== 'scoring' });
    return timed('forward')(run)(...given);
  });
  wrap(network, 'score', timed('head'));
  wrap(
    network,
    'backward',
    (run) =>
      async (
        /** @type {any} */ tree,
        /** @type {any} */ given,
        /** @type {number} */ temperature,
        /** @type {any} */ step,
      ) => {
        const passed = stopwatch();
        /** @type {Took[]} */
        const marks = [];
        await run(
          tree,
          given,
          temperature,
          (/** @type {any} */ within) =>
            (marks.push(passed()), step(within)),
        );
        await policy.whenIdle();
        const parts = policy.backend.kind === 'cpu' ? partsOf(marks, layers) : null;
        if (!parts) return add(`${stage}, back`, passed());
        add(`${stage}, head back`, parts.head);
        add(`${stage}, layers anew`, parts.anew);
        return add(`${stage}, layers back`, parts.back);
      },
  );
  wrap(policy, 'useWeights', (run) => (/** @type {any} */ weights) => {
    const passed = stopwatch();
    run(weights);
    add(`${stage}, merging`, passed());
  });
  return { took, trees, enter: (/** @type {string} */ name) => (stage = name) };
}
