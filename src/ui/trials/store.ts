import { create } from 'zustand';
import { percent } from '../format.ts';
import { trainingWorker } from '../training-worker.ts';
import { curveOf, KEPT_METRICS, type Curve, type KeptMetric, type RunRecord } from '../runs/record.ts';
import { deleteRun, nextId, putRun, toggleShown, useRuns } from '../runs/store.ts';
import { type Arm, type ArmResult, runArm } from './arm.ts';
import { trialVerdict } from './verdict.ts';

/** Runs that are trained one after the other to be compared. */
export interface Trial {
  readonly title: string;
  readonly arms: readonly Arm[];
  readonly fork: RunRecord['fork']; // undefined: they begin anew
}

interface TrialState {
  readonly trial: Trial | null;
  readonly arm: number; // under way
  readonly update: number; // of it
  readonly state: 'idle' | 'running' | 'done' | 'failed';
  readonly results: readonly ArmResult[];
  readonly runs: readonly number[]; // ids of the records made of them
  readonly verdict: string;
  readonly problem: string;
}

const IDLE: TrialState = {
  ...{ trial: null, arm: 0, update: 0, state: 'idle', results: [], runs: [], verdict: '', problem: '' },
};

/** The trial under way, or the last one. */
export const useTrial = create<TrialState>()(() => IDLE);

let worker: Worker | null = null;

/** Trains the arms of a trial one after the other, in a worker of their own: the run of the lab stays as it is. */
export async function runTrial(trial: Trial): Promise<void> {
  cancelTrial();
  const own = trainingWorker();
  worker = own;
  useTrial.setState({ ...IDLE, trial, state: 'running' });
  // what is compared now is seen alone
  for (const id of useRuns.getState().slots) if (id !== null) toggleShown(id);
  try {
    for (const [at, arm] of trial.arms.entries()) {
      useTrial.setState({ arm: at, update: arm.from?.progress.update ?? 0 });
      const result = await runArm(own, arm, (update) => {
        if (worker === own) useTrial.setState({ update });
      });
      if (worker !== own) return; // cancelled
      const id = record(trial, result);
      useTrial.setState((s) => ({ results: [...s.results, result], runs: [...s.runs, id] }));
    }
    useTrial.setState((s) => ({ state: 'done', verdict: trialVerdict(s.results) }));
  } catch (error) {
    if (worker !== own) return;
    useTrial.setState({ state: 'failed', problem: error instanceof Error ? error.message : String(error) });
  }
  own.terminate();
  worker = null;
}

/** Ends the trial under way; runs that are finished stay. */
export function cancelTrial(): void {
  worker?.terminate();
  worker = null;
  if (useTrial.getState().state === 'running') useTrial.setState(IDLE);
}

/** Takes the runs of the last trial out of the list. */
export function undoTrial(): void {
  for (const id of useTrial.getState().runs) deleteRun(id);
  useTrial.setState(IDLE);
}

/** Puts an arm among the runs and on the chart; its id. */
function record({ fork, title }: Trial, { label, config, backend, update, series }: ArmResult): number {
  const curves: Partial<Record<KeptMetric, Curve>> = {};
  for (const metric of KEPT_METRICS) {
    const own = series.get(metric);
    if (own) curves[metric] = curveOf(own);
  }
  const id = putRun({
    ...{ id: nextId(), config, update, curves, changes: [] },
    ...(fork && { fork }),
    name: `${title}: ${label}`,
    started: new Date().toISOString(),
    backend: backend.kind === 'gpu' ? `WebGPU ${backend.adapter}` : 'CPU',
  });
  toggleShown(id);
  return id;
}

/** How far a trial is, in words. */
export function progressWords({ trial, arm, update, results }: TrialState): string {
  return (trial?.arms ?? [])
    .map(({ label, config }, at) => {
      const done = results[at];
      if (done) return `${label}: ${percent(done.series.get('rollout/success')?.smooth)} at update ${done.update}`;
      return at === arm ? `${label}: update ${update}/${config.updates}` : `${label}: waiting`;
    })
    .join(' · ');
}
