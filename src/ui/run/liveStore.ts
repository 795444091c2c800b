import { create } from 'zustand';
import type { FieldName, RunConfig } from '../../config/fields.ts';
import type { Metrics, MetricName } from '../../domain/metrics.ts';
import type { BackendInfo } from '../../domain/backendInfo.ts';
import type { BatchView } from '../../domain/batch.ts';
import type { Health } from '../../domain/health.ts';
import type { Preferences } from '../../domain/preferences.ts';
import type { ErrorCause, Phase } from '../../domain/trainingEvent.ts';
import type { Change } from '../../runs/change.ts';
import type { Run } from '../../runs/run.ts';
import type { RunEvent } from '../../wire/events.ts';
import type { Series } from '../../runs/series.ts';
import { noteFailure } from '../shell/newVersion.ts';

type ErrorEvent = Extract<RunEvent, { type: 'error' }>;
export interface Problem {
  readonly message: string;
  readonly hint: string;
  readonly fatal: boolean;
  readonly fields: readonly FieldName[];
  readonly cause?: ErrorCause;
  readonly line?: number | null; // environment-fault: in the environment's file
}

/** none: nothing started. starting: the worker is asked, nothing came back yet. failed: it is gone. */
export type Session = 'none' | 'starting' | 'ready' | 'failed';

interface LiveState {
  readonly session: Session;
  readonly run: number; // counts the runs that began on this page, resumed ones too; compare it to see whether something belongs to the current run
  readonly running: boolean;
  readonly stepping: boolean; // a step that was asked for is under way
  readonly finished: boolean;
  readonly update: number;
  readonly phase: Phase;
  readonly phaseDone: number;
  readonly phaseTotal: number;
  readonly phaseLeft: number | null; // seconds, of a stage that takes minutes; null where that is not known
  readonly losses: readonly number[]; // −mean log π of what was shown, by step of the imitation, as far as this page has heard
  readonly server: string | null; // that the run talks to, by its name and port
  readonly ownEnvironment: string | null; // name of the person's own environment, for the next run or the current one
  readonly backend: BackendInfo | null;
  readonly parameters: number;
  readonly memoryBytes: number;
  readonly problem: Problem | null;
  readonly health: Health | null; // null until the monitor has spoken
  readonly preferences: Preferences | null; // null without a reward model
  readonly batchVersion: number; // of `live.batch`
  readonly metricsVersion: number; // of `live.metrics`
  readonly flagsVersion: number;
  readonly curvesVersion: number; // counts whenever other curves come into view
}

/** A run of which nothing is known yet. */
export const STILL = {
  running: false,
  stepping: false,
  finished: false,
  update: 0,
  phase: 'idle',
  phaseDone: 0,
  phaseTotal: 0,
  phaseLeft: null,
  losses: [],
} as const;

/** State of the run, small values only; big ones lie in `live`, announced by a version. */
export const useLive = create<LiveState>()(() => ({
  ...STILL,
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
  batchVersion: 0,
  metricsVersion: 0,
  flagsVersion: 0,
  curvesVersion: 0,
}));

const [floats, bytes, ints] = [new Float32Array(), new Uint8Array(), new Int32Array()];
/** What is in view until the recording has come. */
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

/** Curves and arrays: kept out of React, which is only told that they changed. */
export const live = {
  vocabulary: [] as readonly string[], // of `batch`
  batch: NO_BATCH,
  batchConfig: null as RunConfig | null, // that `batch` was made under
  isExample: false, // `batch` was recorded elsewhere: no run of this page made it
  kept: { updates: [] as readonly number[], bytes: 0 }, // by the run; see batches.ts
  metrics: {} as Metrics,
  config: null as RunConfig | null, // that `metrics` were measured under
  series: new Map<MetricName, Series>(),
  recorded: null as Run | null, // the recording that `series` are of; null: they are of the run
  flags: [] as readonly Change[], // changes of the run's knobs
};

/** Takes the batch out of view: none is there that belongs to what the page is about. */
export function showNoBatch(): void {
  live.batch = NO_BATCH;
  live.batchConfig = null;
  live.isExample = false;
  useLive.setState((s) => ({ batchVersion: s.batchVersion + 1 }));
}

/** Brings curves into view: those of the run, which grow in place, or of a recording. */
export function showCurves(series: typeof live.series, recorded: Run | null = null): void {
  live.series = series;
  live.recorded = recorded;
  useLive.setState((s) => ({ curvesVersion: s.curvesVersion + 1 }));
}

const ROLLED_BACK: readonly (Problem['cause'] | undefined)[] = [
  'non-finite',
  'environment-fault',
  'environment-server',
];

/** Shows a problem; a fatal one ends the session, but what it showed stays. */
export function setProblem(problem: Omit<ErrorEvent, 'type'>): void {
  const { fatal } = problem;
  void noteFailure(problem.message); // a worker asks for parts of its own
  useLive.setState((s) => {
    const over = fatal || s.session === 'starting';
    const back = ROLLED_BACK.includes(problem.cause); // between two updates, where the run was rolled back to
    return {
      problem,
      session: fatal ? 'failed' : over ? 'none' : s.session,
      running: over ? false : s.running,
      stepping: over ? false : s.stepping,
      phase: over || back ? 'idle' : s.phase,
    };
  });
}

/** Whether no run has begun, nor any numbers of one been read. */
export const isUntouched = ({ session, metricsVersion }: LiveState): boolean =>
  session === 'none' && metricsVersion === 0;
