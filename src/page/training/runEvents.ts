import type { RunConfig } from '../../config/fields.ts';
import { warmStartRecipe } from '../../config/imitationRecipe.ts';
import type { Health } from '../../domain/health.ts';
import type { RunEvent } from '../../wire/commands.ts';
import { batchBytes, type KeptBatch } from '../../domain/batch.ts';
import type { ForwardedEvent } from './runClient.ts';
import {
  editKnobs,
  keepPlannedChanges,
  nearestPreset,
  recordKnobChanges,
  recordRunKnobs,
  recordRunStart,
  useConfig,
} from '../knobs/configStore.ts';
import { clearBatches, receiveBatch, storedBatch, isOnlyInWorker, newestBatch } from '../view/batches.ts';
import { setProblem, showNoBatch, useLive } from '../view/liveStore.ts';
import { refreshTitle, writeTitle } from '../view/pageTitle.ts';
import { clearTimes, recordTimes } from '../view/profileStore.ts';
import type { Run } from '../../runs/run.ts';
import { hasBegun } from '../../runs/progressText.ts';
import { markUnresumable } from '../runs/resumeOffers.ts';
import { noteReplaced, noteResumed } from '../runs/saving.ts';
import { beginRun, growRun } from '../runs/liveRun.ts';
import { useSelection } from '../view/selectionStore.ts';

const FLUSH_MS = 100; // interval at which collected numbers are shown
const BATCH_MS = 900; // shortest time that a batch stays in view, so that its rollout can be read

let lastBatch = 0; // time at which a batch was last shown, ms
let pendingState: { update?: number; phase?: Extract<RunEvent, { type: 'phase' }>; metrics?: true; health?: Health } =
  {};
let updateBegun = false; // an event of an update has arrived since the run began or last paused
let flushTimer: ReturnType<typeof setTimeout> | undefined;
let vocabulary: readonly string[] = []; // the run's words, by token id
// the knobs of the update in progress; `applied` in the config store may already hold the knobs of a later update
let updateConfig: RunConfig | null = null;

export type RunData = Pick<Run, 'facts' | 'environment'>;

/** The `fork` of a run that begins with the weights of a model's file. */
const FROM_A_FILE = { run: 0, update: 0 };

const NO_OWN_DATA: RunData = { facts: null, environment: null };

/** A request to resume a run: the saved run that the page sent to the worker. */
export interface ResumeRequest {
  readonly run: Run;
  readonly slot?: string; // where it is saved
  readonly copy?: true; // true: another tab continues it too, so this tab saves it as a run of its own
}

/**
 * Writes one event of the worker into the stores. Numbers and curves are shown at the next `flush`; starts, pauses,
 * errors and changed knobs at once. `resuming` is the saved run that the page asked for, or null; `runData` holds the
 * person's own data of that request.
 */
export function applyEvent(
  event: Exclude<ForwardedEvent, { type: 'checkpoint' }>,
  resuming: ResumeRequest | null,
  runData: RunData = NO_OWN_DATA,
): void {
  if (event.type !== 'ready') growRun(event);
  switch (event.type) {
    case 'ready':
      // If a run is replaced, its selected batch is gone. If none was there, an address may have selected a batch that
      // is still to come.
      if (useLive.getState().batchesInWorker.updates.length > 0)
        useSelection.setState({ shownUpdate: null, revealed: null });
      if (resuming && continuesTraining(resuming.run)) begin(event, resuming, runData);
      else begin(event, null, resuming?.run.checkpoint?.start ? { ...runData, fork: FROM_A_FILE } : runData);
      return;
    case 'phase':
      updateBegun = true;
      pendingState.phase = event;
      break;
    case 'imitated': {
      const { done, total, loss, tries } = event;
      useLive.setState(({ losses }) => ({
        losses: [...losses, loss],
        ...(tries && { tries: { ...tries, step: done } }),
      }));
      // after the last step of imitation no stage is in progress
      const nextPhase = done === total ? 'idle' : 'imitating';
      pendingState.phase = { type: 'phase', phase: nextPhase, update: 0, done, total };
      break;
    }
    case 'imitation-changed':
      recordRunKnobs(event.knobs);
      if (event.larger) useLive.setState({ ...event.larger, losses: [], tries: null });
      return;
    case 'extended':
      recordRunKnobs(event.knobs);
      useLive.setState({ finished: false });
      return;
    case 'batch':
      receiveBatch(event);
      break;
    case 'metrics':
      updateBegun = true;
      useLive.setState({ config: updateConfig });
      pendingState.update = event.update;
      pendingState.metrics = true;
      // `metrics` is the last event of an update, so no stage is in progress
      pendingState.phase = { type: 'phase', phase: 'idle', update: event.update, done: 0, total: 0 };
      refreshTitle(event.update);
      break;
    case 'health':
      pendingState.health = event.health;
      break;
    case 'preferences':
      useLive.setState({ preferences: event.preferences });
      return;
    case 'configured':
      updateConfig &&= { ...updateConfig, ...event.changes };
      recordKnobChanges(event);
      return;
    case 'times':
      recordTimes(event.times);
      return;
    case 'running':
      showRunState(event);
      return;
    case 'error':
      flush(); // shows the earlier events first, so that they don't overwrite the error later
      if (event.cause === 'bad-checkpoint' && resuming?.slot) markUnresumable(resuming.slot, event.message);
      setProblem(event);
      writeTitle(useLive.getState().update);
      return;
  }
  // a hidden page collects events and draws nothing
  if (!document.hidden) flushTimer ??= setTimeout(flush, FLUSH_MS);
}

function showRunState({ running, update, finished }: Extract<RunEvent, { type: 'running' }>): void {
  flush();
  // if no event of an update has come yet, a requested step hasn't begun, so `stepping` stays
  useLive.setState((s) => ({ running, stepping: s.stepping && !updateBegun && !finished, update, finished }));
  updateBegun = false;
  writeTitle(update);
}

/** Begins a new run, or one resumed from a checkpoint with its curves and its saved record. */
function begin(
  event: Extract<RunEvent, { type: 'ready' }>,
  resuming: ResumeRequest | null,
  runData: RunData & Pick<Run, 'fork'>,
): void {
  const resumed = resuming?.run;
  const batch = resumed?.batches.at(-1);
  if (resumed) noteResumed(resumed);
  else noteReplaced();
  clearBatches();
  clearTimes();
  beginRun(event, resumed ?? null, resuming?.copy === true, runData);
  pendingState = {};
  updateBegun = false;
  lastBatch = 0;
  updateConfig = event.config;
  vocabulary = event.vocabulary;
  showNoBatch(); // removes the rollouts of the last run
  if (resumed) {
    useLive.setState(phaseOf(resumed));
    if (batch) receiveBatch({ ...batch, kept: [batch.batch.update], bytes: batchBytes(batch.batch) });
    keepPlannedChanges(resumed.begun, () => editKnobs(event.config));
    useConfig.setState({ preset: nearestPreset(event.config) });
  }
  recordRunStart(event.config);
}

/** Whether the run continues earlier training. False if it starts at update 0 from imported weights. */
const continuesTraining = ({ checkpoint }: Run) => checkpoint !== null && hasBegun(checkpoint.progress);

/** The stage of a resumed run: imitation, if it was left in the middle of that; otherwise nothing to set. */
function phaseOf({ checkpoint }: Run): Partial<ReturnType<typeof useLive.getState>> {
  if (!checkpoint || checkpoint.start) return {};
  const { imitated, update } = checkpoint.progress;
  if (imitated === 0 || update > 0) return {};
  return { phase: 'imitating', phaseDone: imitated, phaseTotal: warmStartRecipe(checkpoint.begun).steps };
}

/** Also shows the next batch, if the one in view was there long enough to be read, or if the reader chose the next one. */
export function flush({ atOnce = false } = {}): void {
  clearTimeout(flushTimer);
  flushTimer = undefined;
  if (atOnce) lastBatch = 0;
  const { phase, update, metrics, health } = pendingState;
  pendingState = {};
  // opens the panel when the monitor starts to say TRAP; if the reader closes it, it stays closed until the next time
  if (health?.state === 'trap' && useLive.getState().health?.state !== 'trap') useSelection.setState({ health: true });
  const next = nextBatch();
  const isChosen = next?.batch.update === useSelection.getState().shownUpdate;
  const isDue =
    isChosen ||
    useLive.getState().batch.rows === 0 ||
    !useLive.getState().running ||
    performance.now() - lastBatch > BATCH_MS;
  if (next && isDue) {
    showBatch(next, vocabulary);
    lastBatch = performance.now();
  } else if (next) flushTimer = setTimeout(flush, BATCH_MS / 4);
  useLive.setState((s) => ({
    ...(phase && {
      ...{ phase: phase.phase, phaseDone: phase.done, phaseTotal: phase.total },
      phaseLeft: phase.secondsLeft ?? null,
    }),
    ...(update !== undefined && { update }),
    ...(health && { health }),
    ...(metrics && { metricsVersion: s.metricsVersion + 1 }),
  }));
}

/**
 * The batch that should be in view but isn't. It is the batch of the update that the reader chose (`shownUpdate`). If
 * none is chosen, or the run no longer keeps it, it is the newest batch. Undefined if the right batch is in view, or if
 * the chosen one was requested from the run and is still to come.
 */
export function nextBatch(): KeptBatch | undefined {
  const { shownUpdate } = useSelection.getState();
  if (shownUpdate !== null && shownUpdate === useLive.getState().batch.update && !useLive.getState().isExample)
    return undefined;
  if (shownUpdate !== null && isOnlyInWorker(shownUpdate)) return undefined;
  const next = (shownUpdate === null ? undefined : storedBatch(shownUpdate)) ?? newestBatch();
  return next?.batch === useLive.getState().batch ? undefined : next;
}

/** Shows a batch of a run with this vocabulary. Clears the selected row or token if the batch doesn't have it. */
export function showBatch({ batch, config }: KeptBatch, vocabulary: readonly string[]): void {
  useLive.setState({ batch, vocabulary, batchConfig: config, isExample: false });
  const { shownUpdate, row, token } = useSelection.getState();
  // the selection belongs to a batch that is still to come
  if (shownUpdate !== null && shownUpdate !== batch.update) return;
  if (row >= batch.rows) useSelection.setState({ row: 0, token: null, turn: null });
  else if (token !== null && token >= (batch.lengths[row] ?? 0)) useSelection.setState({ token: null, turn: null });
}
