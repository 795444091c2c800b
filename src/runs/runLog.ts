import type { RunConfig } from '../config/fields.ts';
import type { BackendInfo } from '../domain/backendInfo.ts';
import type { Metrics, MetricName } from '../domain/metrics.ts';
import type { TrainingEvent } from '../domain/trainingEvent.ts';
import type { Change, HealthAt, Run } from './run.ts';
import { Series } from './series.ts';

/** A run is there, under these knobs, with so many updates done. */
export interface Opened {
  readonly type: 'ready';
  readonly backend: BackendInfo;
  readonly config: RunConfig;
  readonly update: number; // done already: 0 unless it goes on from a checkpoint
  readonly vocabulary: readonly string[];
}

/** Changes of knobs that are kept. */
const MOST_CHANGES = 40;

/** Builds a run from training events, for the lab, an arm or the command line. The run grows with each event. */
export class RunLog {
  readonly series = new Map<MetricName, Series>(); // of the run; they grow in place
  #run: Run;
  #finished = false;
  #failure: string | null = null;

  /** Continues `run`. Its curves are copied up to its last update. */
  constructor(run: Run) {
    this.#run = { ...run, series: this.series };
    for (const [name, series] of run.series) this.series.set(name, Series.of(series.upTo(run.update)));
  }

  /** The run as it is now; its curves go on growing. */
  get run(): Run {
    return this.#run;
  }
  /** Whether it has come to its last update. */
  get finished(): boolean {
    return this.#finished;
  }
  /** Why it cannot go on; null while it can. */
  get failure(): string | null {
    return this.#failure;
  }

  hear(event: TrainingEvent | Opened): void {
    switch (event.type) {
      case 'ready': {
        const { config, update, vocabulary } = event;
        const { kind, adapter, kernels: report } = event.backend;
        const kernels = report && { set: report.choice, why: report.why };
        this.#run = { ...this.#run, config, update, vocabulary, backend: { kind, adapter }, kernels };
        return;
      }
      case 'configured':
        this.#run = { ...this.#run, config: { ...this.#run.config, ...event.changes } };
        return;
      case 'metrics':
        measure(this.series, event.update, event.values);
        this.#run = { ...this.#run, update: event.update, solved: event.solved ?? this.#run.solved };
        return;
      case 'health':
        this.#run = { ...this.#run, health: withHealth(this.#run.health, event) };
        return;
      case 'error':
        if (event.fatal) this.#failure = `${event.message} ${event.hint}`;
        else this.#run = { ...this.#run, skipped: this.#run.skipped + 1 };
        return;
      case 'running':
        this.#finished = event.finished;
    }
  }

  /** Notes a change of knobs in words. */
  mark(change: Change): void {
    this.#run = { ...this.#run, changes: [...this.#run.changes, change].slice(-MOST_CHANGES) };
  }

  /** Gives it another place in the list. */
  rename(names: Partial<Pick<Run, 'id' | 'name'>>): void {
    this.#run = { ...this.#run, ...names };
  }
}

/** Adds an update's numbers to their curves; one that a curve has already is not added: older saves measure their start again. */
export function measure(all: Map<MetricName, Series>, update: number, values: Metrics): void {
  for (const [name, value] of Object.entries(values) as [MetricName, number][]) {
    const series = all.get(name) ?? new Series();
    all.set(name, series);
    if (series.last === undefined || update > series.last) series.push(update, value);
  }
}

function withHealth(all: readonly HealthAt[], { update, health }: HealthAt): readonly HealthAt[] {
  const last = all.at(-1);
  return last?.health.state === health.state
    ? [...all.slice(0, -1), { update: last.update, health }]
    : [...all, { update, health }];
}
