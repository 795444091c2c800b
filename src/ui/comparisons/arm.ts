import type { RunConfig } from '../../config/fields.ts';
import type { MetricName } from '../../domain/metrics.ts';
import type { EnvironmentFile } from '../../domain/environmentFile.ts';
import type { Facts } from '../../facts/facts.ts';
import { underKnobs, type Checkpoint } from '../../runs/checkpoint.ts';
import { bareRun, type Run } from '../../runs/run.ts';
import { RunLog } from '../../runs/runLog.ts';
import { Series } from '../../runs/series.ts';
import type { RunClient } from '../run/runClient.ts';
import { trainToEnd } from '../run/trainToEnd.ts';

/** One of the runs of a comparison. */
export interface Arm {
  readonly label: string;
  readonly config: RunConfig; // its `updates` say where it ends
  readonly from: Checkpoint | null; // goes on from there, under `config`; null: from the start
  readonly opening: ReadonlyMap<MetricName, number>; // where its curves begin, at the fork; empty without one
  readonly facts: Facts | null;
  readonly environment?: EnvironmentFile | null; // that the person wrote, where it trains on one
  readonly stopAtTrap: boolean; // true: ends when the monitor says TRAP
}

/** The result of an arm. */
export interface Trained {
  readonly label: string;
  readonly run: Run;
  readonly began: number; // update
  readonly checksum: string; // of the weights it began with
}

/** Callbacks while an arm trains. */
export interface ArmListener {
  readonly onUpdate: (update: number, run: Run) => void; // the run as it is, which goes on growing
  readonly onSilence: (silent: boolean) => void; // its worker has not answered for ten seconds; false: it does again
}

/** Trains an arm to its end or, with `stopAtTrap`, until the monitor says TRAP. Rejects with the worker's own message if training fails. */
export async function runArm(client: RunClient, arm: Arm, { onUpdate, onSilence }: ArmListener): Promise<Trained> {
  const { label, config, from, opening, facts, environment = null, stopAtTrap } = arm;
  const began = from?.progress.update ?? 0;
  const point = (value: number) => Series.of({ x: Uint32Array.of(began), y: Float64Array.of(value) });
  const series = new Map([...opening].map(([name, value]) => [name, point(value)]));
  const started = new Date().toISOString();
  const log = new RunLog(
    bareRun({ id: 0, name: label, arm: label, started, begun: config, update: began, series, facts, environment }),
  );
  const trained = trainToEnd(
    client,
    log,
    {
      ...{ config: from?.begun ?? config, run: false, stopAtTrap },
      ...(from && { from: underKnobs(from, config) }),
      ...(facts && { facts }),
      ...(environment && { environment }),
    },
    { onEvent: (event) => event.type === 'metrics' && onUpdate(event.update, { ...log.run }), onSilence },
  );
  // answered once the run is there
  const asked = client
    .ask((id) => ({ type: 'ask', id, question: { kind: 'checksum' } }))
    .then((answer) => {
      if (answer.kind !== 'checksum') throw new Error(answer.kind === 'refused' ? answer.message : answer.kind);
      client.send({ type: 'run' });
      return answer.checksum;
    });
  const [run, checksum] = await Promise.all([trained, asked]);
  return { label, run, began, checksum };
}
