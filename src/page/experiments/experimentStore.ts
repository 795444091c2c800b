import { create } from 'zustand';
import { plannedRuns, planOf, usableResult, type ListedPlan, type Plan } from '../../experiments/experimentPlan.ts';
import type { RunResult } from '../../experiments/runResult.ts';
import type { Phase } from '../../domain/trainingEvent.ts';
import { readPlan } from './planAddress.ts';
import { isSameRequest, requestFor, type FailedRun, type RunRequest } from './requests.ts';
import { loadQueue, saveQueue } from './storage.ts';

/** State of the queue. `elsewhere`: another tab runs it, and this tab waits. */
export type Mode = 'idle' | 'running' | 'paused' | 'elsewhere';

export interface CurrentRun {
  readonly run: RunRequest;
  readonly update: number;
  readonly updates: number;
  readonly phase: Phase;
  readonly done: number; // within the phase
  readonly total: number;
  readonly success: readonly number[]; // success of its rollouts, by update
}

interface ExperimentsState {
  readonly plan: ListedPlan; // what the form shows
  readonly corrections: readonly string[]; // messages on what the address said and could not be used as it is
  readonly mode: Mode;
  readonly waiting: readonly RunRequest[]; // while the queue runs, the first is the current run
  readonly failed: readonly FailedRun[];
  readonly results: readonly RunResult[];
  // results that come with the page, by experiment
  readonly shippedResults: Readonly<Partial<Record<ListedPlan['experiment'], readonly RunResult[]>>>;
  readonly current: CurrentRun | null;
  readonly deletedResults: readonly RunResult[]; // for undo
  readonly saveError: string | null;
  readonly note: string; // announced by screen readers
}

/** The queue and its results; read from storage when the screen is first opened. */
export const useExperiments = create<ExperimentsState>()(() => {
  const { stored, problem } = loadQueue();
  return {
    ...readPlan(location.hash),
    mode: stored.waiting.length === 0 ? 'idle' : stored.running ? 'running' : 'paused',
    waiting: stored.waiting,
    failed: stored.failed,
    results: stored.results,
    shippedResults: {},
    current: null,
    deletedResults: [],
    saveError: problem,
    note: '',
  };
});

export function updateAndStore(changes: Partial<ExperimentsState>): void {
  useExperiments.setState(changes);
  const { waiting, failed, results, mode } = useExperiments.getState();
  const unsaved = saveQueue({ waiting, failed, results, running: mode === 'running' || mode === 'elsewhere' });
  useExperiments.setState({ saveError: unsaved });
}

/** The runs that a plan lacks: without a result and not waiting. Failed runs count as lacking. */
export function missingRuns(
  plan: ListedPlan,
  waiting: readonly RunRequest[],
  results: readonly RunResult[],
): RunRequest[] {
  return plannedRuns(planOf(plan))
    .filter((run) => !usableResult(run, results))
    .map((run) => requestFor(plan, run))
    .filter((request) => !waiting.some((other) => isSameRequest(other, request)));
}

/** Deletes a plan's results. `restoreDeleted` brings them back. */
export function deleteResults(plan: Plan): void {
  const { results } = useExperiments.getState();
  const runs = plannedRuns(plan);
  const deletedResults = new Set(runs.flatMap((run) => usableResult(run, results) ?? []));
  updateAndStore({
    results: results.filter((result) => !deletedResults.has(result)),
    deletedResults: [...deletedResults],
  });
}

export function restoreDeleted(): void {
  const { results, deletedResults: forgotten } = useExperiments.getState();
  updateAndStore({ results: [...results, ...forgotten], deletedResults: [] });
}
