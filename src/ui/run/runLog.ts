import type { Metrics, MetricName } from '../../domain/metrics.ts';
import type { RunEvent } from '../../wire/events.ts';
import { type Flag, live, STILL, useLive } from './liveStore.ts';
import { type PageState, readSeries } from '../resume/pageState.ts';
import { Series } from './series.ts';

/** A new run: curves start over. */
export function clearRun(event: Extract<RunEvent, { type: 'ready' }>): void {
  live.series = new Map();
  live.metrics = {};
  live.config = event.config;
  live.flags = [];
  useLive.setState((s) => ({
    ...STILL,
    update: event.update,
    running: s.running,
    stepping: s.stepping,
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

/** Puts the curves, flags and numbers of a saved run in place of those that are there. */
export function restoreRun(page: PageState): void {
  live.series = readSeries(page);
  live.metrics = page.metrics;
  live.config = page.config;
  live.flags = [...page.flags];
  useLive.setState((s) => ({ metricsVersion: s.metricsVersion + 1, flagsVersion: s.flagsVersion + 1 }));
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
