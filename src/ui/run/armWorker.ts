import type { RunConfig } from '../../config/fields.ts';
import type { EnvironmentFile } from '../../domain/environmentFile.ts';
import type { MetricName } from '../../domain/metrics.ts';
import type { Phase } from '../../domain/trainingEvent.ts';
import type { Facts } from '../../facts/facts.ts';
import type { Trainer } from '../../runs/armQueue.ts';
import { underKnobs, type Checkpoint } from '../../runs/checkpoint.ts';
import { bareRun, type Run } from '../../runs/run.ts';
import { RunLog } from '../../runs/runLog.ts';
import { Series } from '../../runs/series.ts';
import { NO_LISTENER, RunClient, type ForwardedEvent } from './runClient.ts';

/** A run to train beside the lab: an arm of a comparison or of an experiment. */
export interface Arm {
  readonly label: string;
  readonly config: RunConfig; // with its seed; its `updates` say where it ends
  readonly from?: Checkpoint | null; // goes on from there, under `config`; else from the start
  readonly opening?: ReadonlyMap<MetricName, number>; // where its curves begin, at the fork
  readonly facts?: Facts | null;
  readonly environment?: EnvironmentFile | null; // that the person wrote, where it trains on one
  readonly stopAtTrap?: boolean; // true: ends when the monitor says TRAP
}

/** The result of an arm. */
export interface Trained {
  readonly label: string;
  readonly run: Run;
  readonly began: number; // update
  readonly checksum: string; // of the weights it began with
}

/** How far an arm is. */
export interface ArmNews {
  readonly phase: Phase;
  readonly done: number; // within the phase
  readonly total: number;
  readonly run: Run; // as it is; its curves go on growing
  readonly silent: boolean; // its worker has not answered for ten seconds
}

/**
 * Trains arms in a worker of their own: the run of the lab stays as it is. An arm ends at its last update or, with `stopAtTrap`, when
 * the monitor says TRAP. If training fails, `train` rejects with the worker's own message.
 */
export class ArmWorker implements Trainer<Arm, ArmNews, Trained> {
  readonly #client = new RunClient(NO_LISTENER);
  #still = false;
  #begun = false; // the arm under way was told to run

  async train(arm: Arm, tell: (news: ArmNews) => void): Promise<Trained> {
    const { label, config, from } = arm;
    const log = new RunLog(openRun(arm));
    const began = log.run.update;
    [this.#begun, this.#still] = [false, false];
    const trained = this.#follow(log, arm, tell);
    this.#client.send({
      ...{ type: 'start', config: from?.begun ?? config, run: false },
      ...(from && { from: underKnobs(from, config) }),
      ...(arm.facts && { facts: arm.facts }),
      ...(arm.environment && { environment: arm.environment }),
    });
    const [run, checksum] = await Promise.all([trained, this.#checksum()]);
    return { label, run, began, checksum };
  }

  hold(still: boolean): void {
    this.#still = still;
    if (this.#begun) this.#client.send({ type: still ? 'pause' : 'run' });
  }

  end(reason: string): void {
    this.#client.terminate(reason);
  }

  /** The checksum of the weights that an arm begins with; answered once the run is there, which then trains. */
  async #checksum(): Promise<string> {
    const answer = await this.#client.ask((id) => ({ type: 'ask', id, question: { kind: 'checksum' } }));
    if (answer.kind !== 'checksum') throw new Error(answer.kind === 'refused' ? answer.message : answer.kind);
    this.#begun = true;
    if (!this.#still) this.#client.send({ type: 'run' });
    return answer.checksum;
  }

  /** Has the log grow with what the worker says, up to the end of the arm. Never settles if the worker is ended meanwhile. */
  #follow(log: RunLog, { stopAtTrap = false }: Arm, tell: (news: ArmNews) => void): Promise<Run> {
    let there = false; // what comes before is of the run before
    let stage: Pick<ArmNews, 'phase' | 'done' | 'total'> = { phase: 'compiling', done: 0, total: 0 };
    let silent = false;
    const say = () => tell({ ...stage, run: log.run, silent });
    return new Promise((resolve, reject) => {
      const onEvent = (event: ForwardedEvent) => {
        there ||= event.type === 'ready';
        if (event.type === 'error' && (event.fatal || !there)) reject(new Error(`${event.message} ${event.hint}`));
        if (event.type === 'phase') stage = { phase: event.phase, done: event.done, total: event.total };
        if (event.type !== 'checkpoint' && there) log.add(event);
        if (event.type === 'phase' || event.type === 'metrics') say();
        const trapped = event.type === 'metrics' && log.run.health.at(-1)?.health.state === 'trap';
        if (stopAtTrap && trapped) this.#client.send({ type: 'pause' });
        if (log.finished || (stopAtTrap && trapped)) resolve(log.run);
      };
      const onSilence = (is: boolean) => {
        silent = is;
        say();
      };
      this.#client.listen({ onEvent, onSilence, onLoss: (message) => reject(new Error(message)) });
    });
  }
}

/** The run of an arm before it trains; where it is forked, its curves have one point. */
function openRun({ label, config, from, opening = new Map(), facts = null, environment = null }: Arm): Run {
  const update = from?.progress.update ?? 0;
  const point = (value: number) => Series.of({ x: Uint32Array.of(update), y: Float64Array.of(value) });
  const series = new Map(Array.from(opening, ([name, value]) => [name, point(value)] as const));
  const started = new Date().toISOString();
  return bareRun({ id: 0, name: label, arm: label, started, begun: config, update, series, facts, environment });
}
