import type { RunConfig } from '../../config/fields.ts';
import { warmStartRecipe } from '../../config/imitationRecipe.ts';
import type { Health } from '../../domain/health.ts';
import type { RunEvent } from '../../wire/events.ts';
import { batchBytes, type KeptBatch } from '../../domain/batch.ts';
import type { ToldEvent } from './runClient.ts';
import { edit, keepPlanned, nearestPreset, noteActing, noteBegun, useConfig } from '../knobs/configStore.ts';
import { clearBatches, takeBatch, batchAtHand, isElsewhere, newestBatch } from './batches.ts';
import { live, setProblem, showNoBatch, useLive } from './liveStore.ts';
import { refreshTitle, writeTitle } from '../shell/pageTitle.ts';
import { clearTimes, noteTimes } from '../profile/profileStore.ts';
import type { Run } from '../../runs/run.ts';
import { hasBegun } from '../../runs/standing.ts';
import { noteUnfit } from '../resume/resumeOffers.ts';
import { noteReplaced, noteResumed } from '../runs/saving.ts';
import { beginRun, growRun } from './liveRun.ts';
import { useSelection } from '../shell/selectionStore.ts';

const FLUSH_MS = 100; // counters
const BATCH_MS = 900; // a rollout must stand still long enough to be read

let lastBatch = 0; // when one was shown
let dirty: { update?: number; phase?: Extract<RunEvent, { type: 'phase' }>; metrics?: true; health?: Health } = {};
let heard = false; // something of an update since the run began or was last said to stand still
let flushTimer: ReturnType<typeof setTimeout> | undefined;
let vocabulary: readonly string[] = []; // of the run
let acting: RunConfig | null = null; // of the update under way: `applied` runs ahead of it

/** What a run has of the person's own. */
export type Brought = Pick<Run, 'facts' | 'environment'>;

const NOTHING_BROUGHT: Brought = { facts: null, environment: null };

/** A saved run that was asked for. */
export interface Resuming {
  readonly run: Run;
  readonly slot?: string; // it was kept there
  readonly copy?: true; // another tab goes on with it, too: here it gets a record of its own
}

/**
 * Writes one event of the worker into the stores. Numbers wait for the next flush; what people act on is shown at once.
 * `resuming` is the saved run that was asked for, if one was; `brought` came along with the run that was asked for.
 */
export function hear(
  event: Exclude<ToldEvent, { type: 'checkpoint' }>,
  resuming: Resuming | null,
  brought: Brought = NOTHING_BROUGHT,
): void {
  if (event.type !== 'ready') growRun(event);
  switch (event.type) {
    case 'ready':
      // a batch that an address asks for is yet to come; one of the run that is gone is not
      if (live.kept.updates.length > 0) useSelection.setState({ held: null, revealed: null });
      begin(event, resuming && isUnderWay(resuming.run) ? resuming : null, brought);
      return;
    case 'phase':
      heard = true;
      dirty.phase = event;
      break;
    case 'imitated': {
      const { done, total, loss } = event;
      useLive.setState(({ losses }) => ({ losses: [...losses, loss] }));
      // after the last one nothing of it is under way any more
      const over = done === total ? 'idle' : 'imitating';
      dirty.phase = { type: 'phase', phase: over, update: 0, done, total };
      break;
    }
    case 'batch':
      takeBatch(event);
      break;
    case 'metrics':
      heard = true;
      live.config = acting;
      dirty.update = event.update;
      dirty.metrics = true;
      // numbers are the last of an update: none of its stages is under way any more
      dirty.phase = { type: 'phase', phase: 'idle', update: event.update, done: 0, total: 0 };
      refreshTitle(event.update);
      break;
    case 'health':
      // an alarm shows itself; a reader who closes it is left alone until the next one
      if (event.health.state === 'trap' && useLive.getState().health?.state !== 'trap')
        useSelection.setState({ health: true });
      dirty.health = event.health;
      break;
    case 'preferences':
      useLive.setState({ preferences: event.preferences });
      return;
    case 'configured':
      acting &&= { ...acting, ...event.changes };
      noteActing(event);
      return;
    case 'times':
      noteTimes(event.times);
      return;
    case 'running':
      stands(event);
      return;
    case 'error':
      flush(); // what came before it must not paint over it
      if (event.cause === 'bad-checkpoint' && resuming?.slot) noteUnfit(resuming.slot, event.message);
      setProblem(event);
      writeTitle(useLive.getState().update);
      return;
  }
  // hidden pages keep their curves and draw nothing
  if (!document.hidden) flushTimer ??= setTimeout(flush, FLUSH_MS);
}

/** The run goes or stands still. */
function stands({ running, update, finished }: Extract<RunEvent, { type: 'running' }>): void {
  flush();
  // a step that follows a start is yet to begin
  useLive.setState((s) => ({ running, stepping: s.stepping && !heard, update, finished }));
  heard = false;
  writeTitle(update);
}

/** A run is there: a fresh one, or one that goes on from a checkpoint with its curves and its record. */
function begin(event: Extract<RunEvent, { type: 'ready' }>, resuming: Resuming | null, brought: Brought): void {
  const resumed = resuming?.run;
  const batch = resumed?.batches.at(-1);
  if (resumed) noteResumed(resumed);
  else noteReplaced();
  clearBatches();
  clearTimes();
  beginRun(event, resumed ?? null, resuming?.copy === true, brought);
  dirty = {};
  heard = false;
  lastBatch = 0;
  acting = event.config;
  vocabulary = event.vocabulary;
  showNoBatch(); // what the last run showed is no rollout of this one
  if (resumed) {
    useLive.setState(phaseOf(resumed));
    if (batch) takeBatch({ ...batch, kept: [batch.batch.update], bytes: batchBytes(batch.batch) });
    keepPlanned(resumed.begun, () => edit(event.config));
    useConfig.setState({ preset: nearestPreset(event.config) });
  }
  noteBegun(event.config);
}

/** Whether it goes on, and does not begin from weights that came from elsewhere. */
const isUnderWay = ({ checkpoint }: Run) => checkpoint !== null && hasBegun(checkpoint.progress);

/** What a run that goes on is at: the imitation where it was left in the middle of that. */
function phaseOf({ checkpoint }: Run): Partial<ReturnType<typeof useLive.getState>> {
  if (!checkpoint?.base || checkpoint.start) return {};
  const { steps } = warmStartRecipe(checkpoint.begun);
  return { phase: 'imitating', phaseDone: checkpoint.progress.imitated, phaseTotal: steps };
}

/** Shows the numbers that wait, and the newest batch where the one in view has stood long enough or the reader asks for one. */
export function flush({ atOnce = false } = {}): void {
  clearTimeout(flushTimer);
  flushTimer = undefined;
  if (atOnce) lastBatch = 0;
  const { phase, update, metrics, health } = dirty;
  dirty = {};
  const next = nextBatch();
  const held = next?.batch.update === useSelection.getState().held;
  const due = held || live.batch.rows === 0 || !useLive.getState().running || performance.now() - lastBatch > BATCH_MS;
  if (next && due) {
    showBatch(next, vocabulary);
    lastBatch = performance.now();
  } else if (next) flushTimer = setTimeout(flush, BATCH_MS / 4);
  useLive.setState((s) => ({
    ...(phase && {
      ...{ phase: phase.phase, phaseDone: phase.done, phaseTotal: phase.total },
      phaseLeft: phase.left ?? null,
    }),
    ...(update !== undefined && { update }),
    ...(health && { health }),
    ...(metrics && { metricsVersion: s.metricsVersion + 1 }),
  }));
}

/**
 * The batch that ought to be in view and is not: the held one, or the newest where none is held or the run does not keep it. One that
 * is on its way leaves what is in view.
 */
export function nextBatch(): KeptBatch | undefined {
  const { held } = useSelection.getState();
  if (held !== null && held === live.batch.update && !live.isExample) return undefined;
  if (held !== null && isElsewhere(held)) return undefined;
  const next = (held === null ? undefined : batchAtHand(held)) ?? newestBatch();
  return next?.batch === live.batch ? undefined : next;
}

/** Shows a batch of a run with this vocabulary; what is chosen and is not in it is let go. */
export function showBatch({ batch, config }: KeptBatch, vocabulary: readonly string[]): void {
  live.batch = batch;
  live.vocabulary = vocabulary;
  live.batchConfig = config;
  live.isExample = false;
  useLive.setState((s) => ({ batchVersion: s.batchVersion + 1 }));
  const { held, row, token } = useSelection.getState();
  if (held !== null && held !== batch.update) return; // what is chosen belongs to a batch that is yet to come
  if (row >= batch.rows) useSelection.setState({ row: 0, token: null, turn: null });
  else if (token !== null && token >= (batch.lengths[row] ?? 0)) useSelection.setState({ token: null, turn: null });
}
