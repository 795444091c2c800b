import type { BatchView } from '../domain/batch.ts';
import type { SpreadBucket, SpreadTerm } from '../domain/readings.ts';
import { learnedGroups } from '../domain/tokenMasks.ts';
import type { Weights } from '../model/architecture.ts';
import type { Credit } from '../model/learningMath.ts';
import { groupSpreads } from '../rl/filter.ts';
import type { LearnStep } from '../rl/lesson.ts';
import { accumulateTerm, dot, loadBatch } from './attribution.ts';
import type { Replay } from './replay.ts';

/** As in RAGEN-2 (arXiv 2604.06268), whose reporter sorts groups into six quantiles. */
const BUCKETS = 6;
const TERMS = { task: 'policy', kl: 'kl', entropy: 'entropy' } as const;
export const SPREAD_TERMS = Object.keys(TERMS) as readonly SpreadTerm[];

/** A bucket with the gradients themselves, (number of parameters) each, in the order of `parameters`. */
export interface SpreadGradients extends Omit<SpreadBucket, 'norms'> {
  readonly gradients: Readonly<Record<SpreadTerm, Float64Array>>;
}

/**
 * The gradient of each loss term by the reward spread of groups: groups sorted by it and cut into six buckets of equally
 * many, or into as many as there are groups. The gradient is that of the minibatches `steps`, added up, all at the
 * weights before the update and before the norm is clipped. Overwrites the replay's weights.
 */
export async function spreadGradients(
  replay: Replay,
  batch: BatchView,
  { steps, credit }: { readonly steps: readonly LearnStep[]; readonly credit: Credit },
  weights: Weights,
): Promise<readonly SpreadGradients[]> {
  const { policy, math } = replay;
  const groups = learnedGroups(batch);
  const scores = new Float64Array(batch.rows);
  for (const { row, reward } of batch.episodes) scores[row] = reward;
  const bySpread = [...groupSpreads(scores, groups)].sort(([, a], [, b]) => a - b);
  const count = Math.min(BUCKETS, bySpread.length);
  const size = policy.parameters.reduce((sum, parameter) => sum + parameter.size, 0);
  const zeros = () => new Float64Array(size);
  const edge = (i: number) => Math.floor((i * bySpread.length) / count);
  const buckets = Array.from({ length: count }, (_, i) => bySpread.slice(edge(i), edge(i + 1))).map((members) => ({
    ids: new Set(members.map(([group]) => group)),
    summed: {
      ...{ from: members[0]?.[1] ?? 0, to: members.at(-1)?.[1] ?? 0, groups: members.length },
      gradients: { task: zeros(), kl: zeros(), entropy: zeros() },
    },
  }));
  policy.writeWeights(weights);
  loadBatch(replay, batch, credit);
  for (const step of steps) {
    math.setTerm();
    await policy.accumulate(step.rows, step.objective, step.temperature); // a term's weights come from the whole minibatch
    const recorded = math.terms();
    for (const { ids, summed } of buckets) {
      const rows = step.rows.filter((row) => ids.has(groups[row]!));
      if (rows.length === 0) continue;
      for (const term of SPREAD_TERMS) {
        const pool = await accumulateTerm(replay, step, { term: TERMS[term], recorded, rows });
        for (let i = 0; i < size; i++) summed.gradients[term][i]! += pool[i]!;
      }
    }
  }
  math.setTerm();
  return buckets.map(({ summed }) => summed);
}

/** The norms of a bucket's gradients. */
export function spreadBucket({ gradients, ...bucket }: SpreadGradients): SpreadBucket {
  const norm = (term: SpreadTerm) => Math.sqrt(dot(gradients[term], gradients[term]));
  return { ...bucket, norms: { task: norm('task'), kl: norm('kl'), entropy: norm('entropy') } };
}
