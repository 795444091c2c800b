import type { Weights, Parameter } from '../model/architecture.ts';
import type { NetworkState } from '../model/policy.ts';
import { type KeptBatch, recordedRow } from '../domain/batch.ts';
import type { Why } from '../domain/readings.ts';
import { creditOf, type Lesson } from '../rl/lesson.ts';
import { attribute, logprobGradient, decayContribution, dot, flattened, stepSizes } from './attribution.ts';
import type { ReadingPolicy } from './readingPolicy.ts';
import { recordedLogprobs } from './tokenDistribution.ts';
import type { Replay } from './replay.ts';

/** A kept update: its batch, the network before and after it, and the steps between. */
export interface KeptUpdate extends KeptBatch {
  readonly before: NetworkState;
  readonly after: NetworkState;
  readonly lesson: Lesson;
}

/** The policies that `explainChange` computes with. */
interface WhyReaders {
  /** Returns a policy of one row with these weights and the run's grammar. */
  readonly rowPolicy: (weights: Weights) => Promise<ReadingPolicy>;
  /**
   * Returns a replay in which the update is repeated rollout by rollout. null: the contributions of rollouts aren't
   * separated.
   */
  readonly batchReplay: (() => Promise<Replay>) | null;
}

/** Explains why an update changed the log-probability of a token; see `Why`. */
export async function explainChange(
  { rowPolicy, batchReplay }: WhyReaders,
  { batch, config, before, after, lesson }: KeptUpdate,
  { row, position }: { readonly row: number; readonly position: number },
): Promise<Why> {
  const record = recordedRow(batch, row);
  const probe = await logprobGradient(await rowPolicy(before.weights), record, position, config.temperature);
  const logprobsBefore = await recordedLogprobs(await rowPolicy(before.weights), record, config.temperature);
  const reader = await rowPolicy(after.weights);
  const logprobsAfter = await recordedLogprobs(reader, record, config.temperature);
  const parts = batchReplay
    ? {
        ...(await attribute(
          await batchReplay(),
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
  const whole: Omit<Why, 'residual'> = {
    ...parts,
    before: logprobsBefore[position] ?? 0,
    after: logprobsAfter[position] ?? 0,
  };
  return { ...whole, residual: whole.after - whole.before - sumOfParts(whole) };
}

function sumOfParts({ rollouts, observation = 0, together = 0, ...parts }: Omit<Why, 'residual'>): number {
  const { kl, entropy, value, momentum, decay } = parts;
  return [kl, entropy, observation, value, momentum, decay, together, ...rollouts].reduce((sum, part) => sum + part, 0);
}

/** The contributions to ⟨probe, Δθ⟩ that can be computed without gradients; `together` is the rest. */
type PartialContributions = Pick<Why, 'momentum' | 'decay' | 'steps'> & { readonly together: number };

/**
 * Computes ⟨probe, Δθ⟩ of an update from the network before and after it, without running a rollout again. If the
 * update is a single optimizer step, the contributions of Adam's first moment and of weight decay are separated, as in
 * `attribute`; all gradients together are `together`. With several steps, everything is in `together`, because Adam's
 * second moments between the steps aren't kept.
 */
function firstOrder(
  parameters: readonly Parameter[],
  { lesson, before, after }: { readonly lesson: Lesson; readonly before: NetworkState; readonly after: NetworkState },
  probe: Weights,
): PartialContributions {
  const direction = flattened(parameters, probe);
  const [weightsBefore, weightsAfter] = [flattened(parameters, before.weights), flattened(parameters, after.weights)];
  const whole = dot(
    direction,
    weightsAfter.map((each, i) => each - weightsBefore[i]!),
  );
  const steps = after.steps - before.steps;
  const optimizer = lesson.steps.findLast((step) => !step.optimizer.criticOnly)?.optimizer;
  if (steps !== 1 || !optimizer) return { momentum: 0, decay: 0, steps, together: whole };
  const sizes = stepSizes(parameters, after, optimizer);
  const scaledDirection = sizes.map((size, i) => size * direction[i]!);
  const momentum = -optimizer.beta1 * dot(scaledDirection, flattened(parameters, before.adamM));
  const decay = decayContribution(parameters, direction, before.weights, optimizer);
  return { momentum, decay, steps, together: whole - momentum - decay };
}
