import type { RunConfig } from '../config/fields.ts';
import { applyChanges, changedKnobs, type KnobChange } from '../config/knobChange.ts';
import type { BackendInfo } from '../domain/backendInfo.ts';
import type { Metrics, MetricName } from '../domain/metrics.ts';
import type { TrainingEvent } from '../domain/trainingEvent.ts';
import { describedChange, isExact, MAX_CHANGES } from './change.ts';
import type { HealthStretch, Run } from './run.ts';
import { Series } from './series.ts';

/** Event: a run is open, with these knobs and after `update` updates. */
export interface RunOpened {
  readonly type: 'ready';
  readonly backend: BackendInfo;
  readonly config: RunConfig;
  readonly update: number; // number of finished updates; above 0 only if the run continues from a checkpoint
  readonly vocabulary: readonly string[];
}

/** Builds a run from training events, for the lab, an arm or the command line. The run grows with each event. */
export class RunLog {
  readonly series = new Map<MetricName, Series>(); // the run's curves; they grow in place
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
  get finished(): boolean {
    return this.#finished;
  }
  /** Why the run can't continue; null while it can. */
  get failure(): string | null {
    return this.#failure;
  }

  add(event: TrainingEvent | RunOpened): void {
    switch (event.type) {
      case 'ready': {
        const { config, update, vocabulary } = event;
        const { kind, adapter, kernels: report } = event.backend;
        const kernels = report && { set: report.choice, why: report.why };
        const { begun, changes } = this.#run;
        const isComplete = changes.length < MAX_CHANGES && changes.every(isExact);
        const saved = isComplete ? applyChanges(begun, changes) : config;
        this.#run = { ...this.#run, config: saved, update, vocabulary, backend: { kind, adapter }, kernels };
        // knobs that were changed during the last update and had not taken effect when the run was saved
        this.#recordChange({ update: update + 1, step: 0, set: changedKnobs(saved, config) });
        return;
      }
      case 'configured':
        this.#recordChange({ update: event.update, step: event.step, set: event.changes });
        return;
      case 'imitation-changed': {
        const { begun, config } = this.#run;
        this.#run = { ...this.#run, begun: { ...begun, ...event.knobs }, config: { ...config, ...event.knobs } };
        return;
      }
      case 'batch':
        // knobs that were changed before the first update, or before an update that was repeated after an error
        this.#recordChange({ update: event.batch.update, step: 0, set: changedKnobs(this.#run.config, event.config) });
        return;
      case 'metrics':
        addMetrics(this.series, event.update, event.values);
        this.#run = { ...this.#run, update: event.update, solved: event.solved ?? this.#run.solved };
        return;
      case 'health':
        this.#run = { ...this.#run, health: withHealth(this.#run.health, event) };
        return;
      case 'error':
        if (undoesUpdate(event)) this.#repeatUpdate();
        if (event.fatal) this.#failure = `${event.message} ${event.hint}`;
        else this.#run = { ...this.#run, skipped: this.#run.skipped + 1 };
        return;
      case 'running':
        this.#finished = event.finished;
    }
  }

  /** The number of updates only says where the run ends, so it's no change: the run equals one that began with the new number. */
  #recordChange(change: KnobChange): void {
    const { updates } = change.set;
    if (updates !== undefined) {
      const { begun, config } = this.#run;
      this.#run = { ...this.#run, begun: { ...begun, updates }, config: { ...config, updates } };
    }
    const { config, changes } = this.#run;
    const described = describedChange(config, change);
    if (!described) return;
    this.#run = {
      ...this.#run,
      config: applyChanges(config, [change]),
      changes: [...changes, described].slice(-MAX_CHANGES),
    };
  }

  /** The current update is undone and repeated with the knobs as they are now, so its changes now take effect at its beginning. */
  #repeatUpdate(): void {
    const { changes, update } = this.#run;
    this.#run = {
      ...this.#run,
      changes: changes.map((change) => (change.update > update && isExact(change) ? { ...change, step: 0 } : change)),
    };
  }

  rename(names: Partial<Pick<Run, 'id' | 'name'>>): void {
    this.#run = { ...this.#run, ...names };
  }
}

/** Unless a curve already has that update or a later one: runs from older saves repeat their first evaluation. */
export function addMetrics(curves: Map<MetricName, Series>, update: number, values: Metrics): void {
  for (const [name, value] of Object.entries(values) as [MetricName, number][]) {
    const series = curves.get(name) ?? new Series();
    curves.set(name, series);
    if (series.lastUpdate === undefined || update > series.lastUpdate) series.push(update, value);
  }
}

/** Whether an error returns a run to its last finished update. */
function undoesUpdate({ fatal, cause }: Extract<TrainingEvent, { type: 'error' }>): boolean {
  return !fatal && (cause === 'non-finite' || cause === 'environment-fault');
}

function withHealth(stretches: readonly HealthStretch[], { update, health }: HealthStretch): readonly HealthStretch[] {
  const last = stretches.at(-1);
  return last?.health.state === health.state
    ? [...stretches.slice(0, -1), { update: last.update, health }]
    : [...stretches, { update, health }];
}
