import { create } from 'zustand';
import type { FieldName, RunConfig } from '../fields.ts';
import type { Metrics, MetricName } from '../metrics.ts';
import type { BackendInfo, BatchView, Health, Phase, Preferences, RunEvent } from '../protocol.ts';
import { Series } from './series.ts';

type ErrorEvent = Extract<RunEvent, { type: 'error' }>;
export interface Flag {
  readonly update: number;
  readonly text: string;
}
export interface Problem {
  readonly message: string;
  readonly hint: string;
  readonly fatal: boolean;
  readonly fields: readonly FieldName[];
}

/** none: nothing started. starting: the worker is asked, nothing came back yet. failed: it is gone. */
export type Session = 'none' | 'starting' | 'ready' | 'failed';

interface LiveState {
  readonly session: Session;
  readonly running: boolean;
  readonly finished: boolean;
  readonly update: number;
  readonly phase: Phase;
  readonly phaseDone: number;
  readonly phaseTotal: number;
  readonly backend: BackendInfo | null;
  readonly parameters: number;
  readonly memoryBytes: number;
  readonly problem: Problem | null;
  readonly health: Health | null; // null until the monitor has spoken
  readonly preferences: Preferences | null; // null without a reward model
  readonly batchVersion: number; // of `live.batch`
  readonly metricsVersion: number; // of `live.metrics`
  readonly flagsVersion: number;
}

const STILL = { running: false, finished: false, update: 0, phase: 'idle', phaseDone: 0, phaseTotal: 0 } as const;

/** State of the run, small values only; big ones lie in `live`, announced by a version. */
export const useLive = create<LiveState>()(() => ({
  ...STILL,
  session: 'none',
  backend: null,
  parameters: 0,
  memoryBytes: 0,
  problem: null,
  health: null,
  preferences: null,
  batchVersion: 0,
  metricsVersion: 0,
  flagsVersion: 0,
}));

const [floats, bytes, ints] = [new Float32Array(), new Uint8Array(), new Int32Array()];
/** What is in view until the recording has come. */
const NO_BATCH: BatchView = {
  ...{ update: 0, rows: 0, length: 0, tokens: ints, roles: bytes, states: bytes, turns: bytes, lengths: ints },
  ...{ sampledLogprobs: floats, logprobs: floats, entropies: floats, values: floats, rewards: floats, parts: {} },
  ...{ refLogprobs: floats, advantages: floats, returns: floats, lossMask: floats, advantageMask: floats },
  ...{ gradWeights: floats, policyWeights: floats, kept: bytes, episodes: [] },
};

/** Curves and arrays: kept out of React, which is only told that they changed. */
export const live = {
  vocabulary: [] as readonly string[], // of `batch`
  batch: NO_BATCH,
  batchConfig: null as RunConfig | null, // that `batch` was made under
  isExample: true, // `batch` was recorded elsewhere: no run of this page made it
  kept: { updates: [] as readonly number[], bytes: 0 }, // see history.ts
  metrics: {} as Metrics,
  config: null as RunConfig | null, // that `metrics` were measured under
  series: new Map<MetricName, Series>(),
  flags: [] as Flag[],
};

/** A new run: curves start over. What the last one showed stays until its first batch comes. */
export function clearRun(event: Extract<RunEvent, { type: 'ready' }>): void {
  live.series = new Map();
  live.metrics = {};
  live.config = event.config;
  live.flags = [];
  useLive.setState((s) => ({
    ...STILL,
    running: s.running,
    session: 'ready',
    backend: event.backend,
    parameters: event.parameters,
    memoryBytes: event.memoryBytes,
    problem: null,
    health: null,
    preferences: null,
    metricsVersion: s.metricsVersion + 1,
    flagsVersion: s.flagsVersion + 1,
  }));
}

/** Adds an update's numbers to their curves. */
export function addMetrics(update: number, values: Metrics): void {
  for (const [name, value] of Object.entries(values) as [MetricName, number][]) {
    let series = live.series.get(name);
    if (!series) live.series.set(name, (series = new Series()));
    series.push(update, value);
  }
  live.metrics = { ...live.metrics, ...values };
}

/** Marks a change of knobs on every curve. */
export function addFlag(flag: Flag): void {
  live.flags = [...live.flags, flag].slice(-40);
  useLive.setState((s) => ({ flagsVersion: s.flagsVersion + 1 }));
}

/** Shows a problem; a fatal one ends the session, but what it showed stays. */
export function setProblem({ message, hint, fatal, fields }: Omit<ErrorEvent, 'type'>): void {
  useLive.setState((s) => ({
    problem: { message, hint, fatal, fields },
    session: fatal ? 'failed' : s.session === 'starting' ? 'none' : s.session,
    running: fatal || s.session === 'starting' ? false : s.running,
    phase: fatal ? 'idle' : s.phase,
  }));
}
