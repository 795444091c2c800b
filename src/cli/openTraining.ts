import type { BaseCheckpoint } from '../checkpoints/baseCheckpoint.ts';
import type { Metrics } from '../domain/metrics.ts';
import type { TrainingEvent } from '../domain/trainingEvent.ts';
import { RunLog } from '../runs/runLog.ts';
import type { Run } from '../runs/run.ts';
import type { Host } from '../session/host.ts';
import { openSession, type Session } from '../session/session.ts';
import type { Progress } from './progressBar.ts';

/** A run under way, and all that hears of it. */
export interface Training {
  readonly session: Session;
  readonly log: RunLog;
  readonly show: Progress;
}

/** A step of imitation that is over. */
export type Imitated = Extract<TrainingEvent, { type: 'imitated' }>;

/** Opens the session of a run that begins or goes on. Throws what `openSession` throws. */
export async function openTraining(
  run: Run,
  host: Host,
  show: Progress,
  base: BaseCheckpoint | null = null,
): Promise<Training> {
  const log = new RunLog(run);
  const session = await openSession(
    run.begun,
    host,
    (event) => {
      if (event.type === 'phase') show.phase(event);
      if (event.type === 'error') show.problem(event.message, event.hint);
      if (event.type !== 'ready') return;
      log.add(event);
      show.ready(event.backend);
    },
    run.facts,
    run.checkpoint,
    base,
  );
  return { session, log, show };
}

/**
 * Pulls events until the run is finished, an error stops it, or a callback returns 'end'. `heard` is called after the
 * first evaluation (update 0) and after every update, with the metrics; `imitated` after each imitation step that is a
 * stage of training. An error may occur in the middle of an update.
 */
export async function trainToEnd(
  { session, log, show }: Training,
  heard: (update: number, values: Metrics) => Promise<'on' | 'end'>,
  imitated: (step: Imitated) => Promise<'on' | 'end'> = () => Promise.resolve('on'),
): Promise<'finished' | 'failed' | 'ended'> {
  for await (const event of session.events) {
    if (event.type !== 'answer' && event.type !== 'alive' && event.type !== 'checkpoint') log.add(event);
    if (event.type === 'error') {
      show.problem(event.message, event.hint);
      return 'failed';
    }
    if (event.type === 'running' && event.finished) break;
    if (event.type === 'phase') show.phase(event);
    if (event.type === 'imitated') {
      show.imitated(event);
      if ((await imitated(event)) === 'end') return 'ended';
    }
    if (event.type !== 'metrics') continue;
    if (event.update > 0) show.update(event.update, log.run.config.updates, event.values);
    if ((await heard(event.update, event.values)) === 'end') return 'ended';
  }
  return 'finished';
}
