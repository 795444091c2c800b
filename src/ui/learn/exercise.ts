import type { RunConfig } from '../../config/fields.ts';
import type { PresetName } from '../../config/presets.ts';
import type { BatchView } from '../../domain/batch.ts';
import type { ExperimentName } from '../../experiments/experimentList.ts';
import type { MetricName } from '../../domain/metrics.ts';
import type { Channel } from '../rollout/channels.ts';
import type { CurveSet } from '../curves/curves.ts';

/** One run of an exercise: a preset from its start, with some knobs changed, for so many updates; seed and backend are the page's. */
export interface ArmPlan {
  readonly preset: PresetName;
  readonly set: Partial<RunConfig>;
  readonly updates: number;
}

/** A recorded batch: whoever opens an exercise about it has the same rollouts before them. */
export interface RecordedUpdate {
  readonly preset: PresetName; // whose recording it is in
  readonly update: number;
}

/**
 * What an arm left: its newest batch, the knobs it was made under, and its curves, one value an update that measured it. A shipped run
 * has no batch, and of every curve but success only the best value and the last.
 */
export interface SeenArm {
  readonly batch: BatchView | null;
  readonly config: RunConfig;
  readonly curves: ReadonlyMap<MetricName, readonly number[]>;
}

/** What the run's own numbers say to a question. */
export interface Finding<Choice extends string = string> {
  readonly answer: Choice | null; // null: they cannot tell
  readonly numbers: Readonly<Record<string, number>>; // that its sentence quotes, by name
}

/** Something to do in the lab, what is to be predicted before, and how the prediction is checked after. */
export interface Exercise<Choice extends string = string> {
  readonly id: string;
  readonly choices: readonly Choice[]; // one is predicted; their words stand in the catalogue of texts
  readonly arms: readonly ArmPlan[]; // trained one after the other; empty: nothing is trained, something is read
  readonly reads?: RecordedUpdate; // that the recording stands still at while the chapter is open
  readonly shipped?: { readonly experiment: ExperimentName; readonly arm: string }; // runs that are read in place of training
  readonly find: (arms: readonly SeenArm[]) => Finding<Choice>;
  readonly headline: string; // name of the number that stands for the result in a table
  readonly format: NumberFormat; // of that number
  readonly look: { readonly channel: Channel; readonly curves?: CurveSet };
  readonly point?: () => void; // once it is done: chooses what the finding speaks of
}

/** How a number is written: three significant digits, per cent of a share, or a whole number. */
export type NumberFormat = 'number' | 'percent' | 'count';

export type Verdict = 'right' | 'wrong' | 'unclear';

/** Whether a prediction came true; `unclear` where the numbers cannot tell. */
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
