import type { FieldName } from '../../config/fields.ts';
import type { MetricName } from '../../domain/metrics.ts';
import type { ArmPlan, Demonstration, Finding } from './exercise.ts';

/** A run to press for: one arm that makes a thing happen, or cures it. */
export interface Trial extends Demonstration<'yes' | 'no'> {
  readonly id: string;
  readonly arms: readonly [ArmPlan];
  readonly button: string;
  readonly metrics: readonly MetricName[]; // whose numbers the sentence has; their curves are shown
  /** The finding as a sentence, with placeholders for its numbers: see `fill.ts`. */
  readonly seen: string;
}

/** A question that people ask in public threads, and trials that show the answer. */
export interface Answer {
  readonly id: string;
  readonly question: string; // as people ask it
  readonly text: readonly string[]; // paragraphs
  /** What makes it happen comes first, the cure last. */
  readonly trials: readonly Trial[];
  readonly knobs: readonly FieldName[]; // the knobs that matter
  readonly limits: string;
  readonly threads: readonly `${string}/${string}#${number}`[]; // issues or pull requests on GitHub: repository and number
  readonly links?: readonly PageLink[]; // places on this page with more
  readonly hasCalculator?: true;
  readonly hasPassGate?: true; // asks the run in the lab
}

export interface PageLink {
  readonly label: string;
  readonly href: string;
}

/** Findings of the recorded runs: seeds 7, 8 and 9 on the CPU. */
export const RECORDED_SEEDS = [7, 8, 9] as const;

/** Findings by `ANSWER/TRIAL`, one for each of `RECORDED_SEEDS`. Made by tools/answers. */
export type RecordedFindings = Readonly<Record<string, readonly Finding[]>>;
