import type { BaseCheckpoint } from '../checkpoints/baseCheckpoint.ts';
import type { Metrics } from '../domain/metrics.ts';
import type { TrainingEvent } from '../domain/trainingEvent.ts';
import { RunLog } from '../runs/runLog.ts';
import type { Run } from '../runs/run.ts';
import type { Host } from '../session/host.ts';
import { openSession, type Session } from '../session/session.ts';
import type { RunEvent } from '../wire/commands.ts';
import type { Progress } from './progressBar.ts';

export interface Training {
  readonly session: Session;
  readonly log: RunLog;
  readonly progress: Progress;
}

/** The event of a finished imitation step, or of knobs that the run chose while it imitates. */
export type ImitationEvent = Extract<TrainingEvent, { type: 'imitated' | 'imitation-changed' }>;

/** Opens the session of a run that begins or continues. Throws the errors of `openSession`. */
export async function openTraining(
  run: Run,
  host: Host,
  progress: Progress,
  base: BaseCheckpoint | null = null,
): Promise<Training> {
  const log = new RunLog(run);
  const session = await openSession(
    run.begun,
    host,
    (event) => {
      if (event.type === 'phase') progress.phase(event);
      if (event.type === 'error') progress.problem(event.message, event.hint);
      if (event.type !== 'ready') return;
      log.add(event);
      progress.ready(event.backend);
    },
    { facts: run.facts, resumedFrom: run.checkpoint, openedBase: base },
  );
  return { session, log, progress };
}

/** Runs the imitation with which a run begins to its end. Does nothing if it begins without. */
export async function imitateToEnd({ session, log, progress }: Training): Promise<void> {
  while (session.isImitating()) {
    const event = (await session.events.next()).value as RunEvent;
    if (event.type === 'phase') progress.phase(event);
    if (event.type === 'imitated') progress.imitated(event);
    if (event.type === 'phase' || event.type === 'imitated' || event.type === 'imitation-changed') log.add(event);
  }
}

/**
 * Pulls events until the run is finished, an error stops it, or a callback returns 'end'. `onMetrics` is called
 * after the first evaluation (update 0) and after every update; `onImitation` after each imitation step that is a stage
 * of training. An error may occur in the middle of an update.
 */
export async function trainToEnd(
  { session, log, progress }: Training,
  onMetrics: (update: number, values: Metrics) => Promise<'on' | 'end'>,
  onImitation: (event: ImitationEvent) => Promise<'on' | 'end'> = () => Promise.resolve('on'),
): Promise<'finished' | 'failed' | 'ended'> {
  for await (const event of session.events) {
    if (event.type !== 'answer' && event.type !== 'alive' && event.type !== 'checkpoint') log.add(event);
    if (event.type === 'error') {
      progress.problem(event.message, event.hint);
      return 'failed';
    }
    if (event.type === 'running' && event.finished) break;
    if (event.type === 'phase') progress.phase(event);
    if (event.type === 'imitated') progress.imitated(event);
    if (event.type === 'imitation-changed' && event.larger) progress.larger(event.larger);
    const isImitation = event.type === 'imitated' || event.type === 'imitation-changed';
    if (isImitation && (await onImitation(event)) === 'end') return 'ended';
    if (event.type !== 'metrics') continue;
    if (event.update > 0) progress.update(event.update, log.run.config.updates, event.values);
    if ((await onMetrics(event.update, event.values)) === 'end') return 'ended';
  }
  return 'finished';
}
