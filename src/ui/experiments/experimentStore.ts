import { create } from 'zustand';
import { plannedRuns, resultFor, type Plan } from '../../experiments/experimentPlan.ts';
import type { RunResult } from '../../experiments/runResult.ts';
import type { Phase } from '../../domain/trainingEvent.ts';
import { readPlan } from './planAddress.ts';
import { isSame, requestFor, type FailedRun, type RunRequest } from './requests.ts';
import { load, save } from './storage.ts';

/** elsewhere: another tab has the queue, and this one waits for it. */
export type Mode = 'idle' | 'running' | 'paused' | 'elsewhere';

/** How far the run under way is. */
export interface CurrentRun {
  readonly run: RunRequest;
  readonly update: number;
  readonly updates: number;
  readonly phase: Phase;
  readonly done: number; // within the phase
  readonly total: number;
  readonly success: readonly number[]; // of its rollouts, by update so far
}

interface ExperimentsState {
  readonly plan: Plan; // what the form shows
  readonly corrections: readonly string[]; // what had to be changed in the address
  readonly mode: Mode;
  readonly waiting: readonly RunRequest[]; // the first is under way while the queue runs
  readonly failed: readonly FailedRun[];
  readonly results: readonly RunResult[];
  readonly shipped: Readonly<Partial<Record<Plan['experiment'], readonly RunResult[]>>>; // fetched with the page
  readonly under: CurrentRun | null;
  readonly deleted: readonly RunResult[]; // for undo
  readonly unsaved: string | null; // why nothing is being saved
  readonly note: string; // said once, politely
}

/** The queue and its results; read from storage when the screen is first opened. */
export const useExperiments = create<ExperimentsState>()(() => {
  const { stored, problem } = load();
  return {
    ...readPlan(location.hash),
    mode: stored.waiting.length === 0 ? 'idle' : stored.running ? 'running' : 'paused',
    waiting: stored.waiting,
    failed: stored.failed,
    results: stored.results,
    shipped: {},
    under: null,
    deleted: [],
    unsaved: problem,
    note: '',
  };
});

/** Changes the queue or the results, and stores them. */
export function change(changes: Partial<ExperimentsState>): void {
  useExperiments.setState(changes);
  const { waiting, failed, results, mode } = useExperiments.getState();
  const unsaved = save({ waiting, failed, results, running: mode === 'running' || mode === 'elsewhere' });
  useExperiments.setState({ unsaved });
}

/** What a plan still lacks: no result, not waiting. Failed runs count as lacking. */
export function lacking(plan: Plan, waiting: readonly RunRequest[], results: readonly RunResult[]): RunRequest[] {
  return plannedRuns(plan)
    .filter((run) => !resultFor(run, results))
    .map((run) => requestFor(plan, run))
    .filter((request) => !waiting.some((other) => isSame(other, request)));
}

/** Takes a plan's results out of the list; `restoreForgotten` brings them back. */
export function forget(plan: Plan): void {
  const { results } = useExperiments.getState();
  const runs = plannedRuns(plan);
  const deletedResults = new Set(runs.flatMap((run) => resultFor(run, results) ?? []));
  change({ results: results.filter((result) => !deletedResults.has(result)), deleted: [...deletedResults] });
}

export function restoreDeleted(): void {
  const { results, deleted: forgotten } = useExperiments.getState();
  change({ results: [...results, ...forgotten], deleted: [] });
}
