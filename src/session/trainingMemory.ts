import type { BaseCheckpoint } from '../checkpoints/baseCheckpoint.ts';
import { FIELDS, type Field, type FieldName, type RunConfig } from '../config/fields.ts';
import { contradictions } from '../config/contradictions.ts';
import { type FittingKnob, isTooLarge, type TrainingPlan } from '../domain/modelCard.ts';
import { adapterConfig } from '../model/adapterKnobs.ts';
import { adaptedPolicyMemory, MAX_ADAPTED_BYTES } from '../model/cpu/adapters/memory.ts';
import { KnobsError } from './backendKnobs.ts';
import { policySpec, type RolloutSize } from './policySpec.ts';

export type SizedBase = Pick<BaseCheckpoint, 'model' | 'weights'>;

/**
 * The memory that a run needs on the CPU to train adapters for `base`, computed by the code that allocates it. Nothing
 * is read or allocated. `maxBytes` is the largest number of bytes there can be. If the run needs more, the plan lists
 * each knob that makes it fit if only that knob is lowered, with the largest such value. `envOf` creates the
 * environment for other knobs; without it, `maxTurns` isn't tried.
 */
export async function trainingPlan(
  config: RunConfig,
  base: SizedBase,
  env: RolloutSize,
  envOf: ((config: RunConfig) => Promise<RolloutSize>) | null = null,
  maxBytes: number = MAX_ADAPTED_BYTES,
): Promise<TrainingPlan> {
  const partsOf = (knobs: RunConfig, rollouts: RolloutSize) =>
    adaptedPolicyMemory(policySpec(knobs, rollouts, base), base.weights, adapterConfig(knobs));
  const bytesOf = (knobs: RunConfig, rollouts: RolloutSize) =>
    partsOf(knobs, rollouts).reduce((sum, { bytes }) => sum + bytes, 0);
  const parts = partsOf(config, env);
  const bytes = bytesOf(config, env);
  const fitting: FittingKnob[] = [];
  const plan = { engine: 'cpu', parts, bytes, maxBytes, fitting } as const;
  if (!isTooLarge(plan)) return plan;
  for (const field of ['groupSize', 'prompts', 'adapterRank'] as const) {
    const withValue = (value: number): RunConfig => ({ ...config, [field]: value });
    const minimum = minimumOf(field);
    let [low, high] = [minimum - 1, config[field]]; // the largest that fits lies in [low, high)
    while (high - low > 1) {
      const middle = Math.floor((low + high) / 2);
      if (bytesOf(withValue(middle), env) <= maxBytes) low = middle;
      else high = middle;
    }
    while (low >= minimum && contradictions(withValue(low)).length > 0) low--;
    if (low >= minimum) fitting.push({ field, value: low, bytes: bytesOf(withValue(low), env) });
  }
  for (let value = config.maxTurns - 1; envOf && value >= minimumOf('maxTurns'); value--) {
    const knobs = { ...config, maxTurns: value };
    if (contradictions(knobs).length > 0) continue;
    const bytesWithValue = bytesOf(knobs, await envOf(knobs));
    if (bytesWithValue > maxBytes) continue;
    fitting.push({ field: 'maxTurns', value, bytes: bytesWithValue });
    break;
  }
  return plan;
}

function minimumOf(name: FieldName): number {
  const field: Field = FIELDS[name];
  return 'min' in field ? field.min : 1;
}

const gib = (bytes: number) => `${(bytes / 2 ** 30).toFixed(1)} GiB`;

/**
 * Throws KnobsError if a run needs more memory than there can be. The error names the knobs that would make it fit.
 */
export function checkFits(plan: TrainingPlan): void {
  if (plan.maxBytes === null || !isTooLarge(plan)) return;
  const words = plan.fitting.map(({ field, value, bytes }) => `${FIELDS[field].label} ${value} (${gib(bytes)})`);
  throw new KnobsError(
    `The run needs ${gib(plan.bytes)}. On the CPU at most ${gib(plan.maxBytes)} fit.`,
    words.length > 0
      ? `It fits with ${words.join(', or ')}.`
      : 'No one knob makes it fit: turn several down, or choose a smaller model.',
    plan.fitting.map(({ field }) => field),
  );
}
