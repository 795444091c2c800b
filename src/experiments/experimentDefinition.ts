import type { RunConfig } from '../config/config.ts';
import type { MetricName } from '../domain/metrics.ts';

/** Which of a metric's values in a run: its first, last, largest, or the mean of all. */
export type Take = 'first' | 'last' | 'best' | 'mean';
/** One number of a run. */
export interface Measure {
  readonly metric: MetricName;
  readonly take: Take;
}

/** A column of the table: a measure, the update at which the monitor said TRAP, or how many rollouts were played. */
export interface Column {
  readonly key: string;
  readonly label: string;
  readonly of: Measure | 'trap' | 'rollouts';
  readonly digits?: number; // after the point; 3
  readonly none?: string; // what a cell says when no run has the number
}

/** Numbers others printed, for another model and task: shown in words beside ours, never on our axis. */
export interface Published {
  readonly source: string;
  readonly model: string;
  readonly task: string;
  readonly columns: readonly string[];
  readonly note?: string;
}

interface AnyArm {
  readonly key: string;
  readonly label: string;
  readonly group?: string; // arms of one group stand under one heading
  readonly against?: string; // the arm that differences are taken to
  readonly published?: readonly (number | null)[]; // one for each of the published columns
}
/** A configuration that is run. */
export interface RunArm extends AnyArm {
  readonly set: Partial<RunConfig>;
}
/** A row that needs no run of its own: another arm's run holds its numbers. */
export interface ReadArm extends AnyArm {
  readonly readFrom: string;
  readonly cells?: Readonly<Record<string, Measure>>; // by column; absent: it is the same configuration as the other arm
}
export type Arm = RunArm | ReadArm;

/** Settings to compare, and what to read off them. */
export interface Experiment {
  readonly label: string;
  readonly question: string;
  readonly doc: string; // what was held equal, and what to be careful with
  readonly shared: Partial<RunConfig>; // of every arm
  readonly arms: readonly Arm[];
  readonly columns: readonly Column[];
  readonly headline: string; // the column that differences are taken of
  readonly published?: Published;
  readonly defaultSeeds: number;
  readonly secondsPerUpdate: number; // a guess on one CPU core, before anything was measured
}

/** True for arms that are run. */
export function isRun(arm: Arm): arm is RunArm {
  return 'set' in arm;
}
