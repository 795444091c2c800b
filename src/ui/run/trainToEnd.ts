import type { Run } from '../../runs/run.ts';
import type { RunLog } from '../../runs/runLog.ts';
import type { RunCommand } from '../../wire/commands.ts';
import type { RunClient, RunListener, ToldEvent } from './runClient.ts';

/** A run that is trained to its end, beside the lab's own. */
export interface Order extends Omit<Extract<RunCommand, { type: 'start' }>, 'type' | 'guarded'> {
  readonly stopAtTrap?: boolean; // true: ends when the monitor says TRAP
}

/** The callbacks that hear of the run's progress. */
export type Follower = Pick<RunListener, 'onEvent' | 'onSilence'>;

/**
 * Has a worker train the run of `log` to its end or, with `stopAtTrap`, until the monitor says TRAP. The log grows with it. Rejects with
 * the worker's own message if training fails. If the client is terminated meanwhile, the promise never settles.
 */
export function trainToEnd(
  client: RunClient,
  log: RunLog,
  { stopAtTrap = false, ...start }: Order,
  { onEvent, onSilence }: Follower,
): Promise<Run> {
  let there = false; // what comes before is of the run before
  return new Promise((resolve, reject) => {
    const hear = (event: ToldEvent) => {
      there ||= event.type === 'ready';
      if (event.type === 'error' && (event.fatal || !there)) reject(new Error(`${event.message} ${event.hint}`));
      if (event.type === 'checkpoint' || !there) return;
      log.hear(event);
      const { health } = log.run;
      if (log.finished) resolve(log.run);
      else if (stopAtTrap && event.type === 'metrics' && health.at(-1)?.health.state === 'trap') {
        client.send({ type: 'pause' });
        resolve(log.run);
      }
    };
    client.listen({
      onEvent: (event) => {
        hear(event);
        onEvent(event);
      },
      onLoss: (message) => reject(new Error(message)),
      onSilence,
    });
    client.send({ type: 'start', ...start });
  });
}
