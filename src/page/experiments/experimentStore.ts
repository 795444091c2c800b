import { create } from 'zustand';
import { plannedRuns, planOf, usableResult, type PlanChoice, type Plan } from '../../experiments/experimentPlan.ts';
import { type RunResult, parseResults } from '../../experiments/runResult.ts';
import type { Phase } from '../../domain/trainingEvent.ts';
import { ConfigError } from '../../config/configProblem.ts';
import { problemText } from '../../base/problem.ts';
import { ownExperiment, type OwnExperiment, type OwnExperiments } from './ownExperiment.ts';
import { defaultPlan, readPlan } from './planAddress.ts';
import { isSameRequest, requestFor, type FailedRun, type RunRequest } from './requests.ts';
import { loadQueue, saveQueue } from './storage.ts';
import type { Experiment } from '../../experiments/experimentDefinition.ts';
import { EXPERIMENTS, SHIPPED_EXPERIMENTS, type ExperimentName } from '../../experiments/experimentList.ts';

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
  readonly plan: PlanChoice; // what the form shows
  readonly corrections: readonly string[]; // messages on what the address said and could not be used as it is
  readonly mode: Mode;
  readonly waiting: readonly RunRequest[]; // while the queue runs, the first is the current run
  readonly failed: readonly FailedRun[];
  readonly results: readonly RunResult[];
  readonly own: OwnExperiments; // experiments of your own, oldest first
  // results that come with the page, of the experiments that were shown or changed
  readonly shippedResults: readonly RunResult[];
  readonly current: CurrentRun | null;
  readonly deletedResults: readonly RunResult[]; // for undo
  readonly deletedOwn: readonly (readonly [string, OwnExperiment])[]; // for undo
  readonly saveError: string | null;
  readonly note: string; // announced by screen readers
}

/** The queue and its results; read from storage when the screen is first opened. */
export const useExperiments = create<ExperimentsState>()(() => {
  const { stored, problem } = loadQueue();
  const { plan, corrections } = readPlan(location.hash, stored.own);
  return {
    ...{ plan, corrections, own: stored.own, deletedOwn: [] },
    mode: stored.waiting.length === 0 ? 'idle' : stored.running ? 'running' : 'paused',
    waiting: stored.waiting,
    failed: stored.failed,
    results: stored.results,
    shippedResults: [],
    current: null,
    deletedResults: [],
    saveError: problem,
    note: '',
  };
});

export function updateAndStore(changes: Partial<ExperimentsState>): void {
  useExperiments.setState(changes);
  const { waiting, failed, results, mode, own } = useExperiments.getState();
  const unsaved = saveQueue({ waiting, failed, results, own, running: mode === 'running' || mode === 'elsewhere' });
  useExperiments.setState({ saveError: unsaved });
}

/** The runs that a plan lacks: without a result and not waiting. Failed runs count as lacking. */
export function missingRuns(
  plan: PlanChoice,
  waiting: readonly RunRequest[],
  results: readonly RunResult[],
  own?: OwnExperiments,
): RunRequest[] {
  return plannedRuns(planOf(plan, own))
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
    deletedOwn: [],
  });
}

export function restoreDeleted(): void {
  const { results, deletedResults, own, deletedOwn } = useExperiments.getState();
  const [name] = deletedOwn.map(([each]) => each);
  updateAndStore({ results: [...results, ...deletedResults], own: new Map([...own, ...deletedOwn]), deletedResults: [], deletedOwn: [] }); // prettier-ignore
  if (name !== undefined) choose(name);
}

/** Shows an experiment, listed or of your own. */
export function choose(name: string): void {
  const { plan, own } = useExperiments.getState();
  const next = defaultPlan(name, own);
  useExperiments.setState({ plan: own.has(name) ? next : { ...next, backend: plan.backend }, corrections: [], note: '' }); // prettier-ignore
}

/** Shows what an address says. An experiment in a link becomes one of your own. */
export function openAddress(hash: string): void {
  const { plan, file, corrections } = readPlan(hash, useExperiments.getState().own);
  if (file === null) useExperiments.setState({ plan });
  else openFile(file);
  useExperiments.setState((s) => ({ corrections: file === null ? corrections : [...corrections, ...s.corrections] }));
}

/** Adds an experiment of your own and shows it; if there is one with the same file, shows that. */
export function openFile(text: string): void {
  const { own } = useExperiments.getState();
  const numbers = Array.from(own.keys(), (name) => Number(name.replace('own-', '')));
  const name = `own-${Math.max(0, ...numbers) + 1}`;
  reportProblems(() => {
    const opened = ownExperiment(name, text);
    const same = [...own].find(([, each]) => each.text === opened.text)?.[0];
    if (same === undefined) updateAndStore({ own: new Map([...own, [name, opened]]), deletedOwn: [] });
    choose(same ?? name);
  });
}

/** Replaces the file of an experiment of your own, if the new one has no problems. */
export function replaceFile(name: string, text: string): void {
  reportProblems(() => {
    updateAndStore({ own: new Map(useExperiments.getState().own).set(name, ownExperiment(name, text)) });
    choose(name);
  });
}

/** Deletes an experiment of your own with its results. `restoreDeleted` brings them back. */
export function deleteOwn(name: string): void {
  const { own, results, failed } = useExperiments.getState();
  const deleted = own.get(name);
  if (!deleted) return;
  updateAndStore({
    own: new Map([...own].filter(([other]) => other !== name)),
    failed: failed.filter(({ experiment }) => experiment !== name),
    results: results.filter(({ experiment }) => experiment !== name),
    deletedResults: results.filter(({ experiment }) => experiment === name),
    deletedOwn: [[name, deleted]],
  });
  choose('learning');
}

function reportProblems(change: () => void): void {
  try {
    change();
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    useExperiments.setState({ corrections: error.problems.map(problemText) });
  }
}

const requested = new Set<ExperimentName>();

/** Fetches, once, the runs that come with the page and may stand in for those of an experiment, which may be a changed copy. */
export async function loadShipped({ arms }: Experiment): Promise<void> {
  const keys = new Set(arms.map(({ key }) => key));
  const names = SHIPPED_EXPERIMENTS.filter((name) => EXPERIMENTS[name].arms.some(({ key }) => keys.has(key)));
  await Promise.all(names.map(loadRuns));
}

async function loadRuns(name: ExperimentName): Promise<void> {
  if (requested.has(name)) return;
  requested.add(name);
  try {
    const response = await fetch(`${import.meta.env.BASE_URL}experiments/${name}.jsonl`);
    // some servers answer a missing file with the page itself
    if (!response.ok || response.headers.get('content-type')?.includes('html')) return;
    const { results } = parseResults(await response.text());
    useExperiments.setState(({ shippedResults }) => ({ shippedResults: [...shippedResults, ...results] }));
  } catch {
    requested.delete(name); // offline: the next call tries again
  }
}
