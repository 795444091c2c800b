import type { FieldName, RunConfig } from '../config/config.ts';
import type { PresetName } from '../config/presets.ts';
import type { MetricName } from '../domain/metrics.ts';

/** How a metric's values in a run become one number: the first, the last, the largest (`best`), or the mean of all. */
export type Take = 'first' | 'last' | 'best' | 'mean';
export interface Measure {
  readonly metric: MetricName;
  readonly take: Take;
}

/** Numbers of a run that are no metric, by the names that a file gives them. */
export const PLAIN_MEASURES = ['trap', 'rollouts', 'seconds', 'tokens'] as const;

/**
 * A measure, the first update at which the monitor reported a trap, the number of rollouts played, the seconds that the
 * run took, or an estimate of the agent’s tokens that all optimizer steps learned from, those of imitation too.
 */
export interface Column {
  readonly key: string;
  readonly label: string;
  readonly measure: Measure | (typeof PLAIN_MEASURES)[number];
  readonly digits?: number; // digits after the decimal point; default: 3
  readonly emptyText?: string; // text of a cell if no run has the number
}

/** Results from a paper, for another model and task. They are shown as text beside ours, never in the same chart. */
export interface Published {
  readonly source: string;
  readonly model: string;
  readonly task: string;
  readonly columns: readonly string[];
  readonly note?: string;
}

/** What every arm has. An arm is one configuration of an experiment, run with several seeds. */
interface ArmBase {
  readonly key: string;
  readonly label: string;
  readonly group?: string; // heading of the group that the arm belongs to
  readonly comparedWith?: string; // key of the arm that it is compared with
  readonly published?: readonly (number | null)[]; // one for each of the published columns
}
/** An arm with runs of its own. */
export interface RunArm extends ArmBase {
  readonly set: Partial<RunConfig>;
}
/** An arm without runs of its own. Its numbers are measured on the runs of the arm `borrowedFrom`. */
export interface BorrowedArm extends ArmBase {
  readonly borrowedFrom: string;
  /** Measures by column; absent: the other arm's columns, because the configuration is the same. */
  readonly cells?: Readonly<Record<string, Measure>>;
}
export type Arm = RunArm | BorrowedArm;

/** How a file searches, if it has no list of arms. */
export interface Search {
  readonly preset: PresetName | 'none'; // none: all knobs begin at their defaults
  readonly set: Partial<RunConfig>; // on top of the preset
  readonly knobs: readonly FieldName[]; // an arm is one value of each
  readonly better: 'higher' | 'lower'; // rows are sorted by the headline column, best first
}

export interface Experiment {
  readonly label: string;
  readonly question: string;
  readonly doc: string; // what all arms have in common, and the caveats
  readonly besides?: string; // name of the experiment that trains the same tasks in other ways
  readonly shared: Partial<RunConfig>; // knobs of all arms
  readonly arms: readonly Arm[];
  readonly columns: readonly Column[];
  readonly headline: string; // key of the column in which arms are compared
  readonly published?: Published;
  readonly search?: Search; // only of a file
  readonly defaultSeeds: number;
  readonly secondsPerUpdate: number; // an estimate for one CPU core, used until something was measured
}

/** The column in which arms are compared. */
export function headlineColumn({ columns, headline }: Experiment): Column | undefined {
  return columns.find(({ key }) => key === headline);
}

export function isRunArm(arm: Arm): arm is RunArm {
  return 'set' in arm;
}
