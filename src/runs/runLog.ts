import type { RunConfig } from '../config/fields.ts';
import { afterChanges, changedKnobs, type KnobChange } from '../config/knobChange.ts';
import type { BackendInfo } from '../domain/backendInfo.ts';
import type { Metrics, MetricName } from '../domain/metrics.ts';
import type { TrainingEvent } from '../domain/trainingEvent.ts';
import { changeOf, isExact, MOST_CHANGES } from './change.ts';
import type { HealthAt, Run } from './run.ts';
import { Series } from './series.ts';

/** A run is there, under these knobs, with so many updates done. */
export interface Opened {
  readonly type: 'ready';
  readonly backend: BackendInfo;
  readonly config: RunConfig;
  readonly update: number; // done already: 0 unless it goes on from a checkpoint
  readonly vocabulary: readonly string[];
}

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

  add(event: TrainingEvent | Opened): void {
    switch (event.type) {
      case 'ready': {
        const { config, update, vocabulary } = event;
        const { kind, adapter, kernels: report } = event.backend;
        const kernels = report && { set: report.choice, why: report.why };
        const { begun, changes } = this.#run;
        const all = changes.length < MOST_CHANGES && changes.every(isExact);
        const saved = all ? afterChanges(begun, changes) : config;
        this.#run = { ...this.#run, config: saved, update, vocabulary, backend: { kind, adapter }, kernels };
        // changed after its last update began, and not taken up before it was saved
        this.#note({ update: update + 1, step: 0, set: changedKnobs(saved, config) });
        return;
      }
      case 'configured':
        this.#note({ update: event.update, step: event.step, set: event.changes });
        return;
      case 'batch':
        // changed before the first update began, or before the update that came back after an error
        this.#note({ update: event.batch.update, step: 0, set: changedKnobs(this.#run.config, event.config) });
        return;
      case 'metrics':
        measure(this.series, event.update, event.values);
        this.#run = { ...this.#run, update: event.update, solved: event.solved ?? this.#run.solved };
        return;
      case 'health':
        this.#run = { ...this.#run, health: withHealth(this.#run.health, event) };
        return;
      case 'error':
        if (isUndone(event)) this.#takeBack();
        if (event.fatal) this.#failure = `${event.message} ${event.hint}`;
        else this.#run = { ...this.#run, skipped: this.#run.skipped + 1 };
        return;
      case 'running':
        this.#finished = event.finished;
    }
  }

  /** Keeps a change of knobs with the words for it. */
  #note(change: KnobChange): void {
    const { config, changes } = this.#run;
    const noted = changeOf(config, change);
    if (!noted) return;
    this.#run = {
      ...this.#run,
      config: afterChanges(config, [change]),
      changes: [...changes, noted].slice(-MOST_CHANGES),
    };
  }

  /** The update under way is undone and begins again, with the knobs as they are now. */
  #takeBack(): void {
    const { changes, update } = this.#run;
    this.#run = {
      ...this.#run,
      changes: changes.map((change) => (change.update > update && isExact(change) ? { ...change, step: 0 } : change)),
    };
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

/** Whether an error takes a run back to its last whole update. */
function isUndone({ fatal, cause }: Extract<TrainingEvent, { type: 'error' }>): boolean {
  return !fatal && (cause === 'non-finite' || cause === 'environment-fault');
}

function withHealth(all: readonly HealthAt[], { update, health }: HealthAt): readonly HealthAt[] {
  const last = all.at(-1);
  return last?.health.state === health.state
    ? [...all.slice(0, -1), { update: last.update, health }]
    : [...all, { update, health }];
}
