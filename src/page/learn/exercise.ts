import type { RunConfig } from '../../config/fields.ts';
import type { PresetName } from '../../config/presets.ts';
import type { BatchView } from '../../domain/batch.ts';
import type { ExperimentName } from '../../experiments/experimentList.ts';
import type { MetricName } from '../../domain/metrics.ts';
import type { Channel } from '../rollout/channels.ts';
import type { CurveSet } from '../curves/curves.ts';
import type { Run } from '../../runs/run.ts';

/** The backend is the page's, and so is the seed, unless `set` has one. */
export interface ArmPlan {
  readonly preset: PresetName;
  readonly set: Partial<RunConfig>;
  readonly updates: number;
}

/** A batch of a recording. Everyone who opens an exercise about it sees the same rollouts. */
export interface RecordedUpdate {
  readonly preset: PresetName; // the preset whose recording has it
  readonly update: number;
}

/**
 * Result of an arm: its last batch, the knobs of that batch, and its curves, with one value for each update that
 * measured it. A shipped run has no batch, and its curves, except success, have only the best and the last value.
 */
export interface ArmResult {
  readonly batch: BatchView | null;
  readonly config: RunConfig;
  readonly curves: ReadonlyMap<MetricName, readonly number[]>;
}

/** A trained run as the result of an arm: its last batch and its curves. */
export function resultOf({ batches, config, series }: Run): ArmResult {
  const lastBatch = batches.at(-1);
  const curves = Array.from(series, ([name, { points }]) => [name, Array.from(points.y)] as const);
  return { batch: lastBatch?.batch ?? null, config: lastBatch?.config ?? config, curves: new Map(curves) };
}

export interface Finding<Choice extends string = string> {
  readonly answer: Choice | null; // null: the numbers are unclear
  readonly numbers: Readonly<Record<string, number>>; // the numbers quoted in the result's sentence, by name
}

/** Runs that are shown in the lab, and the finding that is computed from them. */
export interface Demonstration<Choice extends string = string> {
  // trained one after the other; empty if a recording or shipped runs are read
  readonly arms: readonly ArmPlan[];
  readonly recordedUpdate?: RecordedUpdate; // shown, not trained; while the chapter is open, the recording pauses at it
  readonly shipped?: { readonly experiment: ExperimentName; readonly arm: string }; // runs to read instead of training
  readonly findingOf: (arms: readonly ArmResult[]) => Finding<Choice>;
  readonly labView: { readonly channel: Channel; readonly curves?: CurveSet };
  readonly selectExample?: () => void; // called at the end: selects the rollout and token that the finding is about
}

/** A demonstration whose finding is predicted first. */
export interface Exercise<Choice extends string = string> extends Demonstration<Choice> {
  readonly id: string;
  readonly choices: readonly Choice[]; // the possible predictions; the catalogue of texts has their words
  readonly headlineNumber: string; // name of the number shown in the class table
  readonly format: NumberFormat; // of the headline number
}

/** Format of a number: three significant digits, a share in per cent, or a whole number. */
export type NumberFormat = 'number' | 'percent' | 'count';

export type Verdict = 'right' | 'wrong' | 'unclear';

/** Whether a prediction came true; `unclear` if there is no answer. */
export function verdictOf({
  predicted,
  answer,
}: {
  readonly predicted: string;
  readonly answer: string | null;
}): Verdict {
  if (answer === null) return 'unclear';
  return predicted === answer ? 'right' : 'wrong';
}
