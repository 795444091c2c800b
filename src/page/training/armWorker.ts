import type { RunConfig } from '../../config/fields.ts';
import type { EnvironmentFile } from '../../domain/environmentFile.ts';
import type { MetricName } from '../../domain/metrics.ts';
import type { Phase } from '../../domain/trainingEvent.ts';
import type { Facts } from '../../facts/facts.ts';
import type { Trainer } from '../../runs/armQueue.ts';
import { withKnobs, type Checkpoint } from '../../runs/checkpoint.ts';
import { runWithDefaults, type Run } from '../../runs/run.ts';
import { RunLog } from '../../runs/runLog.ts';
import { Series } from '../../runs/series.ts';
import { NO_LISTENER, RunClient, type ForwardedEvent } from './runClient.ts';

/** A run to train beside the lab: an arm of a comparison or of an experiment. */
export interface Arm {
  readonly label: string;
  readonly config: RunConfig; // with its seed; the arm ends after `updates` updates
  // checkpoint to continue from, with the knobs of `config`; without it the arm starts fresh
  readonly from?: Checkpoint | null;
  readonly firstValues?: ReadonlyMap<MetricName, number>; // of its curves, at the fork
  readonly facts?: Facts | null;
  readonly environment?: EnvironmentFile | null; // the person's own environment, if the arm trains on it
  readonly stopAtTrap?: boolean; // true: ends when the monitor says TRAP
}

export interface TrainedArm {
  readonly label: string;
  readonly run: Run;
  readonly startUpdate: number;
  readonly checksum: string; // of the weights that the arm began with
}

export interface ArmProgress {
  readonly phase: Phase;
  readonly done: number; // within the phase
  readonly total: number;
  readonly run: Run; // the run so far; its curves keep growing
  readonly silent: boolean; // the worker has not answered for ten seconds
}

/**
 * Trains arms in a separate worker, so the lab's run is not affected. An arm ends at its last update or, with
 * `stopAtTrap`, when the monitor says TRAP. If training fails, `train` rejects with the worker's own message.
 */
export class ArmWorker implements Trainer<Arm, ArmProgress, TrainedArm> {
  readonly #client = new RunClient(NO_LISTENER);
  #paused = false;
  #hasRun = false; // the command `run` was sent for the current arm

  async train(arm: Arm, onProgress: (progress: ArmProgress) => void): Promise<TrainedArm> {
    const { label, config, from } = arm;
    const log = new RunLog(newRun(arm));
    const startUpdate = log.run.update;
    [this.#hasRun, this.#paused] = [false, false];
    const finishedRun = this.#follow(log, arm, onProgress);
    this.#client.send({
      ...{ type: 'start', config: from?.begun ?? config, run: false },
      ...(from && { from: withKnobs(from, config) }),
      ...(arm.facts && { facts: arm.facts }),
      ...(arm.environment && { environment: arm.environment }),
    });
    const [run, checksum] = await Promise.all([finishedRun, this.#checksumThenTrain()]);
    return { label, run, startUpdate, checksum };
  }

  setPaused(paused: boolean): void {
    this.#paused = paused;
    if (this.#hasRun) this.#client.send({ type: paused ? 'pause' : 'run' });
  }

  end(reason: string): void {
    this.#client.terminate(reason);
  }

  /** Gets the checksum of the weights that an arm begins with, then starts the training. */
  async #checksumThenTrain(): Promise<string> {
    const answer = await this.#client.ask((id) => ({ type: 'ask', id, question: { kind: 'checksum' } }));
    if (answer.kind !== 'checksum') throw new Error(answer.kind === 'refused' ? answer.message : answer.kind);
    this.#hasRun = true;
    if (!this.#paused) this.#client.send({ type: 'run' });
    return answer.checksum;
  }

  /** Resolves with the run when the arm ends. Never settles if the worker is ended before. */
  #follow(log: RunLog, { stopAtTrap = false }: Arm, onProgress: (progress: ArmProgress) => void): Promise<Run> {
    let ready = false; // events before `ready` belong to the previous arm
    let stage: Pick<ArmProgress, 'phase' | 'done' | 'total'> = { phase: 'compiling', done: 0, total: 0 };
    let silent = false;
    const report = () => onProgress({ ...stage, run: log.run, silent });
    return new Promise((resolve, reject) => {
      const onEvent = (event: ForwardedEvent) => {
        ready ||= event.type === 'ready';
        if (event.type === 'error' && (event.fatal || !ready)) reject(new Error(`${event.message} ${event.hint}`));
        if (event.type === 'phase') stage = { phase: event.phase, done: event.done, total: event.total };
        if (event.type !== 'checkpoint' && ready) log.add(event);
        if (event.type === 'phase' || event.type === 'metrics') report();
        const trapped = event.type === 'metrics' && log.run.health.at(-1)?.health.state === 'trap';
        if (stopAtTrap && trapped) this.#client.send({ type: 'pause' });
        if (log.finished || (stopAtTrap && trapped)) resolve(log.run);
      };
      const onSilence = (isSilent: boolean) => {
        silent = isSilent;
        report();
      };
      this.#client.listen({ onEvent, onSilence, onLoss: (message) => reject(new Error(message)) });
    });
  }
}

/** The run of an arm before it trains. The curves with one of the `firstValues` already have one point, at the fork. */
function newRun({ label, config, from, firstValues = new Map(), facts = null, environment = null }: Arm): Run {
  const update = from?.progress.update ?? 0;
  const point = (value: number) => Series.of({ x: Uint32Array.of(update), y: Float64Array.of(value) });
  const series = new Map(Array.from(firstValues, ([name, value]) => [name, point(value)] as const));
  const started = new Date().toISOString();
  return runWithDefaults({
    id: 0,
    name: label,
    arm: label,
    started,
    begun: config,
    update,
    series,
    facts,
    environment,
  });
}
