import type { Run } from '../../runs/run.ts';
import type { RunLog } from '../../runs/runLog.ts';
import type { RunCommand } from '../../wire/commands.ts';
import type { RunClient, RunListener, ToldEvent } from './runClient.ts';

/** A run that is trained to its end, beside the lab's own. */
export interface Order extends Omit<Extract<RunCommand, { type: 'start' }>, 'type' | 'guarded'> {
  readonly stopAtTrap?: boolean; // it has shown what it was to show
}

/** Who is told how far it is. */
export type Follower = Pick<RunListener, 'onEvent' | 'onSilence'>;

/**
 * Has a worker train the run of `log` to its end, or to the trap where that is what it is for; the log grows with it. Rejects in the
 * worker's own words where it cannot go on. Never ends where the client is ended meanwhile.
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
