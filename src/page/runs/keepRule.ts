export interface TrainedRun {
  readonly order: number; // later runs have higher numbers
  readonly seconds: number; // how long it trained
}

/**
 * The number of later runs that trained at least as long as this one. When it reaches a limit, the run may be dropped:
 * so a run of minutes is never dropped for runs of seconds.
 */
export function longerLaterRuns({ order, seconds }: TrainedRun, runs: readonly TrainedRun[]): number {
  return runs.filter((other) => other.order > order && other.seconds >= seconds).length;
}

/** The runs that may be dropped: of each, at least `limit` later runs trained at least as long. */
export function droppableRuns<T extends TrainedRun>(runs: readonly T[], limit: number): readonly T[] {
  return runs.filter((run) => longerLaterRuns(run, runs) >= limit);
}
