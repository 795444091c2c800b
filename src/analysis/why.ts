import type { Weights, Parameter } from '../model/architecture.ts';
import type { NetworkState } from '../model/policy.ts';
import { type KeptBatch, recordOf } from '../domain/batch.ts';
import type { Why } from '../domain/readings.ts';
import { creditOf, type Lesson } from '../rl/lesson.ts';
import { attribute, logprobGradient, decayed, dot, flat, stepSizes } from './attribution.ts';
import type { ReadingPolicy } from './readingPolicy.ts';
import { logprobs } from './tokenDistribution.ts';
import type { Replay } from './replay.ts';

/** An update as it is kept: its batch, the network before and after it, and what it did in between. */
export interface KeptUpdate extends KeptBatch {
  readonly before: NetworkState;
  readonly after: NetworkState;
  readonly lesson: Lesson;
}

/** What an update is read with. */
interface WhyReaders {
  /** A policy of one row with the weights it is asked for, and the grammar. */
  readonly reading: (weights: Weights) => Promise<ReadingPolicy>;
  /** Where it is done again, rollout by rollout; null: its rollouts are not told apart. */
  readonly replaying: (() => Promise<Replay>) | null;
}

/** Why an update moved a token. */
export async function whyMoved(
  { reading, replaying }: WhyReaders,
  { batch, config, before, after, lesson }: KeptUpdate,
  { row, position }: { readonly row: number; readonly position: number },
): Promise<Why> {
  const record = recordOf(batch, row);
  const probe = await logprobGradient(await reading(before.weights), record, position, config.temperature);
  const was = await logprobs(await reading(before.weights), record, config.temperature);
  const reader = await reading(after.weights);
  const is = await logprobs(reader, record, config.temperature);
  const parts = replaying
    ? {
        ...(await attribute(
          await replaying(),
          batch,
          { lesson, credit: creditOf(batch, lesson.credit) },
          before,
          probe,
        )),
      }
    : {
        ...{ rollouts: new Float64Array(batch.rows), kl: 0, entropy: 0, value: 0 },
        ...firstOrder(reader.parameters, { lesson, before, after }, probe),
      };
  const whole: Omit<Why, 'residual'> = { ...parts, before: was[position] ?? 0, after: is[position] ?? 0 };
  return { ...whole, residual: whole.after - whole.before - explained(whole) };
}

function explained({ kl, entropy, value, momentum, decay, together = 0, rollouts }: Omit<Why, 'residual'>): number {
  return [kl, entropy, value, momentum, decay, together, ...rollouts].reduce((sum, part) => sum + part, 0);
}

/** ⟨probe, Δθ⟩ of an update and what of it can be told apart without a gradient. */
type Undivided = Pick<Why, 'momentum' | 'decay' | 'steps'> & { readonly together: number };

/**
 * ⟨probe, Δθ⟩ of an update, computed from the network before and after it; no rollout is run again. If the update is one optimizer step, the parts of
 * Adam's first moment and of weight decay are separated, as in `attribute`, and the gradients stay one part. Several steps stay one part, because what
 * Adam divided by in between isn't kept.
 */
function firstOrder(
  parameters: readonly Parameter[],
  { lesson, before, after }: { readonly lesson: Lesson; readonly before: NetworkState; readonly after: NetworkState },
  probe: Weights,
): Undivided {
  const direction = flat(parameters, probe);
  const [from, to] = [flat(parameters, before.weights), flat(parameters, after.weights)];
  const whole = dot(
    direction,
    to.map((each, i) => each - from[i]!),
  );
  const steps = after.steps - before.steps;
  const optimizer = lesson.steps.findLast((step) => !step.optimizer.criticOnly)?.optimizer;
  if (steps !== 1 || !optimizer) return { momentum: 0, decay: 0, steps, together: whole };
  const sizes = stepSizes(parameters, after, optimizer);
  const pulled = sizes.map((size, i) => size * direction[i]!);
  const momentum = -optimizer.beta1 * dot(pulled, flat(parameters, before.adamM));
  const decay = decayed(parameters, direction, before.weights, optimizer);
  return { momentum, decay, steps, together: whole - momentum - decay };
}
