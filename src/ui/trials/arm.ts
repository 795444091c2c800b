import { underKnobs, type Checkpoint } from '../../runs/checkpoint.ts';
import type { Facts } from '../../facts/facts.ts';
import type { RunConfig } from '../../config/fields.ts';
import type { MetricName } from '../../domain/metrics.ts';
import type { BackendInfo } from '../../domain/backendInfo.ts';
import type { Health } from '../../domain/health.ts';
import type { RunEvent } from '../../wire/events.ts';
import type { RunClient, ToldEvent } from '../run/client.ts';
import { KEPT_METRICS } from '../runs/record.ts';
import { Series } from '../run/series.ts';

/** One of the runs of a trial. */
export interface Arm {
  readonly label: string;
  readonly config: RunConfig; // its `updates` say where it ends
  readonly from: Checkpoint | null; // goes on from there, under `config`; null: from the start
  readonly opening: ReadonlyMap<MetricName, number>; // where its curves begin, at the fork; empty without one
  readonly facts: Facts | null;
  readonly stopAtTrap: boolean; // it has shown what it was to show
}

/** What came of an arm. */
export interface ArmResult {
  readonly label: string;
  readonly config: RunConfig; // as it was trained
  readonly backend: BackendInfo;
  readonly checksum: string; // of the weights it began with
  readonly began: number; // update
  readonly update: number; // it ended at
  readonly series: ReadonlyMap<MetricName, Series>;
  readonly health: Health | null;
  readonly solved: ReadonlyMap<string, boolean> | null; // evaluated tasks, by greedy play, at the last evaluation
}

/** What is told of an arm while it trains. */
export interface ArmListener {
  readonly onUpdate: (update: number) => void;
  readonly onSilence: (silent: boolean) => void; // its worker has not answered for ten seconds; false: it does again
}

/** Trains an arm to its end, or to the trap where that is what it is for. Rejects with the worker's own words when it cannot. */
export function runArm(client: RunClient, arm: Arm, { onUpdate, onSilence }: ArmListener): Promise<ArmResult> {
  const { label, config, from, opening, facts } = arm;
  const began = from?.progress.update ?? 0;
  const series = new Map(
    [...opening].map(([name, value]) => {
      const own = new Series();
      own.push(began, value);
      return [name, own];
    }),
  );
  let ready: Extract<RunEvent, { type: 'ready' }> | null = null;
  let checksum = '';
  let update = began;
  let health: Health | null = null;
  let solved: ReadonlyMap<string, boolean> | null = null;
  return new Promise<ArmResult>((resolve, reject) => {
    const end = () => {
      if (!ready) return;
      const { config: trained, backend } = ready;
      resolve({ label, config: trained, backend, checksum, began, update, series, health, solved });
    };
    const onEvent = (event: ToldEvent) => {
      if (event.type === 'ready') ready = event;
      else if (event.type === 'error' && (event.fatal || !ready)) reject(new Error(`${event.message} ${event.hint}`));
      else if (event.type === 'health') health = event.health;
      else if (event.type === 'metrics' && event.update > began) {
        update = event.update;
        solved = event.solved ?? solved;
        for (const name of KEPT_METRICS) keep(series, name, update, event.values[name]);
        onUpdate(update);
        if (arm.stopAtTrap && health?.state === 'trap') {
          client.send({ type: 'pause' });
          end();
        }
      } else if (event.type === 'running' && event.finished) end();
    };
    const onLoss = (message: string) => reject(new Error(`${message} Run the comparison again.`));
    client.listen({ onEvent, onLoss, onSilence });
    const changed = from && underKnobs(from, config);
    client.send({
      type: 'start',
      config: from?.begun ?? config,
      run: false,
      ...(changed && { from: changed }),
      ...(facts && { facts }),
    });
    // answered once the run is there
    void client
      .ask((id) => ({ type: 'ask', id, question: { kind: 'checksum' } }))
      .then((answer) => {
        if (answer.kind === 'checksum') {
          checksum = answer.checksum;
          client.send({ type: 'run' });
        } else if (answer.kind === 'refused') reject(new Error(answer.message));
      });
  });
}

function keep(all: Map<MetricName, Series>, name: MetricName, update: number, value: number | undefined): void {
  if (value === undefined) return;
  const series = all.get(name) ?? new Series();
  all.set(name, series);
  series.push(update, value);
}
