import { create } from 'zustand';
import type { FieldName, RunConfig } from '../../config/fields.ts';
import type { Metrics, MetricName } from '../../domain/metrics.ts';
import type { BackendInfo } from '../../domain/backendInfo.ts';
import type { BatchView } from '../../domain/batch.ts';
import type { Health } from '../../domain/health.ts';
import type { Preferences } from '../../domain/preferences.ts';
import type { ErrorCause, Phase, Tries } from '../../domain/trainingEvent.ts';
import type { Change } from '../../runs/change.ts';
import type { Run } from '../../runs/run.ts';
import type { RunEvent } from '../../wire/commands.ts';
import type { Series } from '../../runs/series.ts';
import { noteFailure } from '../browser/newVersion.ts';

type ErrorEvent = Extract<RunEvent, { type: 'error' }>;
export interface Problem {
  readonly message: string;
  readonly hint: string;
  readonly fatal: boolean;
  readonly fields: readonly FieldName[];
  readonly cause?: ErrorCause;
  readonly line?: number | null; // environment-fault: in the environment's file
}

/** none: no run was started. starting: the worker has not answered yet. failed: the worker is gone. */
export type Session = 'none' | 'starting' | 'ready' | 'failed';

interface LiveState {
  readonly session: Session;
  // counts the runs that began on this page, resumed ones too; compare it to see whether something belongs to the
  // current run
  readonly run: number;
  readonly running: boolean;
  readonly stepping: boolean; // a requested step is under way
  readonly finished: boolean;
  readonly update: number;
  readonly phase: Phase;
  readonly phaseDone: number;
  readonly phaseTotal: number;
  readonly phaseLeft: number | null; // seconds left in the stage; null if not known
  // loss of each imitation step that this page has received: −mean log π of the demonstrated tokens
  readonly losses: readonly number[];
  readonly tries: (Tries & { readonly step: number }) | null; // the last tries during imitation, and after which step
  readonly server: string | null; // environment server that the run uses: its name and port
  readonly ownEnvironment: string | null; // name of the person's own environment, for the next run or the current one
  readonly backend: BackendInfo | null;
  readonly parameters: number;
  readonly memoryBytes: number;
  readonly problem: Problem | null;
  readonly health: Health | null; // null until the monitor's first report
  readonly preferences: Preferences | null; // null without a reward model
  readonly metricsVersion: number; // counts how often newer metrics were shown
  readonly curvesVersion: number; // counts how often other curves came into view
  readonly vocabulary: readonly string[]; // of `batch`
  readonly batch: BatchView;
  readonly batchConfig: RunConfig | null; // knobs that `batch` was made with
  readonly isExample: boolean; // `batch` comes from a recording, not from a run of this page
  readonly batchesInWorker: { readonly updates: readonly number[]; readonly bytes: number }; // see batches.ts
  // `metrics` and `series` grow with every event; a component that draws them asks for `metricsVersion`, which counts at
  // most ten times a second
  readonly metrics: Metrics;
  readonly config: RunConfig | null; // knobs that `metrics` were measured with
  readonly series: Map<MetricName, Series>; // the run's grow in place
  readonly shownRecording: Run | null; // the recording that `series` belong to; null: they belong to the run
  readonly flags: readonly Change[]; // changes of the run's knobs
}

/** State at the start of a run, before its first event. */
export const NEW_RUN_STATE = {
  running: false,
  stepping: false,
  finished: false,
  update: 0,
  phase: 'idle',
  phaseDone: 0,
  phaseTotal: 0,
  phaseLeft: null,
  losses: [],
  tries: null,
} as const;

const [floats, bytes, ints] = [new Float32Array(), new Uint8Array(), new Int32Array()];
/** The batch in view until the recording is loaded. */
const NO_BATCH: BatchView = {
  ...{
    update: 0,
    rows: 0,
    length: 0,
    tokens: ints,
    roles: bytes,
    states: bytes,
    singles: bytes,
    turns: bytes,
    lengths: ints,
  },
  ...{ sampledLogprobs: floats, logprobs: floats, entropies: floats, values: floats, rewards: floats, parts: {} },
  ...{ refLogprobs: floats, advantages: floats, returns: floats, lossMask: floats, advantageMask: floats },
  ...{ gradWeights: floats, policyWeights: floats, kept: bytes, episodes: [] },
};

export const useLive = create<LiveState>()(() => ({
  ...NEW_RUN_STATE,
  session: 'none',
  run: 0,
  server: null,
  ownEnvironment: null,
  backend: null,
  parameters: 0,
  memoryBytes: 0,
  problem: null,
  health: null,
  preferences: null,
  metricsVersion: 0,
  curvesVersion: 0,
  vocabulary: [],
  batch: NO_BATCH,
  batchConfig: null,
  isExample: false,
  batchesInWorker: { updates: [], bytes: 0 },
  metrics: {},
  config: null,
  series: new Map(),
  shownRecording: null,
  flags: [],
}));

/** Removes the batch from view, for when the current run has no batch to show. */
export function showNoBatch(): void {
  useLive.setState({ batch: NO_BATCH, batchConfig: null, isExample: false });
}

/** Shows curves: those of the run, which grow in place, or those of a recording. */
export function showCurves(series: LiveState['series'], shownRecording: Run | null = null): void {
  useLive.setState(({ curvesVersion }) => ({ series, shownRecording, curvesVersion: curvesVersion + 1 }));
}

const ROLLED_BACK: readonly (Problem['cause'] | undefined)[] = [
  'non-finite',
  'environment-fault',
  'environment-server',
];

/** Shows a problem; a fatal one ends the session, but what it showed stays. */
export function setProblem(problem: Omit<ErrorEvent, 'type'>): void {
  const { fatal } = problem;
  void noteFailure(problem.message); // the worker may have failed to load a part of the program
  useLive.setState((s) => {
    // a worker that is silent for a while still opens its run
    const ended = fatal || (s.session === 'starting' && problem.cause !== 'silent');
    // the run was rolled back to the end of the last update, so no stage is under way
    const rolledBack = ROLLED_BACK.includes(problem.cause);
    return {
      problem,
      session: fatal ? 'failed' : ended ? 'none' : s.session,
      running: ended ? false : s.running,
      stepping: ended ? false : s.stepping,
      phase: ended || rolledBack ? 'idle' : s.phase,
    };
  });
}

/** Whether no run has begun and no metrics were received. */
export const isUntouched = ({ session, metricsVersion }: LiveState): boolean =>
  session === 'none' && metricsVersion === 0;
