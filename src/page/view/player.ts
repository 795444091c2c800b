import { create } from 'zustand';
import type { PresetName } from '../../config/presets.ts';
import { recordedPreset } from '../../config/recordings.ts';
import type { Recording } from '../../runs/recording.ts';
import type { Answer, Question } from '../../wire/questions.ts';
import { currentRoute } from '../address/route.ts';
import { useConfig } from '../knobs/configStore.ts';
import { shownRollout } from './currentRollout.ts';
import { showCurves, showNoBatch, useLive } from './liveStore.ts';
import { useSelection } from './selectionStore.ts';
import { shippedRecording } from './shippedRecording.ts';

const TOKEN_MS = 180;
const OBSERVATION_MS = 420; // longer than for other tokens, so that the tool's answer is noticed
const ROLLOUT_MS = 2400; // how long a finished rollout stays on screen

interface ReplayState {
  readonly preset: PresetName | null; // the preset of the recording, which may still be loading
  readonly recording: Recording | null; // null: still loading, or missing
  readonly loadFailed: boolean;
  readonly batchIndex: number; // index of the batch in view
  readonly playing: boolean;
  readonly knobsDiffer: boolean; // hidden, because the knobs ask for another environment or model
  readonly trainingBegan: boolean; // training has begun, so the recording never plays again
}

/** The recorded run that the page shows before the first training. */
export const useReplay = create<ReplayState>()(() => ({
  preset: null,
  recording: null,
  loadFailed: false,
  batchIndex: 0,
  playing: false,
  knobsDiffer: false,
  trainingBegan: false,
}));

let timer: ReturnType<typeof setTimeout> | undefined;
let isPlayerChange = false; // true while the player itself changes the selection

/**
 * Loads the recording of the chosen preset and shows its first batch. Does the same when another preset is chosen.
 * Plays unless the system asks for reduced motion. Ends for good when training begins.
 */
export async function openReplay(): Promise<void> {
  const reducedMotion = matchMedia('(prefers-reduced-motion: reduce)').matches;
  if (useLive.getState().session !== 'none') return;
  const { shownUpdate, recorded, token, turn, row } = useSelection.getState();
  // if the address selects something, playing would move away from that
  const hasSelection = shownUpdate !== null || recorded !== null || token !== null || turn !== null || row !== 0;
  const stopSelection = useSelection.subscribe((now, previous) => {
    if (now.recorded !== null && now.recorded !== previous.recorded) showAddressedUpdate();
    const selected = now.row !== previous.row || now.token !== previous.token || now.turn !== previous.turn;
    if (selected && !isPlayerChange && useReplay.getState().playing) {
      pause();
      revealTo(null); // a selected place should stay still
    }
  });
  const stopConfig = useConfig.subscribe((now, before) => {
    if (now.preset !== before.preset) void load(recordedPreset(now.preset), { plays: !reducedMotion });
    else if (now.wanted !== before.wanted) followKnobs();
  });
  const stopLive = useLive.subscribe(({ session }) => {
    if (session === 'none') return;
    stopLive();
    stopSelection();
    stopConfig();
    endReplay();
  });
  // the start screen plays by itself; this recording continues in the lab
  await load(recordedPreset(useConfig.getState().preset), {
    plays: !reducedMotion && currentRoute() !== 'stage',
    hasSelection,
  });
}

/** Continues playing if a recording is in view, for example when the lab is opened from another screen. */
export function resumePlayback(): void {
  const { recording, trainingBegan, playing } = useReplay.getState();
  if (recording && !trainingBegan && !playing) play();
}

export function showNearestUpdate(update: number): void {
  const { recording, trainingBegan } = useReplay.getState();
  if (!recording || trainingBegan) return;
  const distance = (at: number) => Math.abs((recording.batches[at]?.batch.update ?? 0) - update);
  playBatchFromStart(recording.batches.reduce((best, _, at) => (distance(at) < distance(best) ? at : best), 0));
}

/** Loads a preset's recording and shows it, unless another preset was chosen or training began meanwhile. */
async function load(
  preset: PresetName,
  { plays, hasSelection = false }: { readonly plays: boolean; readonly hasSelection?: boolean },
): Promise<void> {
  const isSuperseded = () => useReplay.getState().trainingBegan || useReplay.getState().preset !== preset;
  const isShown = useReplay.getState().recording !== null;
  if (isShown) hideRecording();
  useReplay.setState({ preset, recording: null, loadFailed: false, knobsDiffer: false });
  const recording = await shippedRecording(preset).catch(() => null); // the page shows that it's missing
  if (isSuperseded()) return;
  if (!recording) {
    useReplay.setState({ loadFailed: true });
    return;
  }
  const knobsDiffer = !matchesKnobs(recording);
  useReplay.setState({ recording, knobsDiffer });
  if (knobsDiffer) return;
  putInView(0);
  showAddressedUpdate();
  if (hasSelection) return;
  revealTo(turnEnds()[0] ?? null);
  if (plays) play();
}

/** Hides the recording if the knobs ask for another environment or model, and shows it again if they match. */
function followKnobs(): void {
  const { recording, knobsDiffer: before } = useReplay.getState();
  if (!recording) return;
  const knobsDiffer = !matchesKnobs(recording);
  if (knobsDiffer === before) return;
  useReplay.setState({ knobsDiffer });
  if (knobsDiffer) hideRecording();
  else playBatchFromStart(0);
}

function hideRecording(): void {
  pause();
  showNoBatch();
  hideCurves();
  useSelection.setState({ row: 0, token: null, turn: null, revealed: null, recorded: null });
}

function hideCurves(): void {
  if (!useLive.getState().shownRecording) return;
  showCurves(new Map());
  useLive.setState({ health: null });
}

/** The answer of the recording in view to a question; null if no recording is in view. */
export function askRecording(question: Question): Promise<Answer> | null {
  const { recording, trainingBegan } = useReplay.getState();
  if (!recording || trainingBegan || !useLive.getState().isExample) return null;
  return import('./recordedAnswer.ts').then(({ recordedAnswer }) => recordedAnswer(recording, question));
}

export function play(): void {
  if (useReplay.getState().knobsDiffer) return;
  useReplay.setState({ playing: true });
  useSelection.setState({ recorded: null });
  if (useSelection.getState().revealed === null) revealTo(turnEnds()[0] ?? null);
  scheduleNext();
}

export function pause(): void {
  clearTimeout(timer);
  useReplay.setState({ playing: false });
}

/** Shows one more turn, or the next recorded update after the last turn, and pauses. */
export function stepReplay(): void {
  pause();
  const shown = useSelection.getState().revealed;
  const nextTurnEnd = shown === null ? undefined : turnEnds().find((each) => each > shown);
  if (nextTurnEnd === undefined) playBatchFromStart(useReplay.getState().batchIndex + 1);
  else revealTo(nextTurnEnd);
}

/** Shows a recorded batch from the first turn of its rollout. After the last batch comes the first. */
export function playBatchFromStart(batchIndex: number): void {
  const { recording, knobsDiffer } = useReplay.getState();
  if (!recording || knobsDiffer) return;
  putInView(batchIndex % recording.batches.length);
  revealTo(turnEnds()[0] ?? null);
  if (useReplay.getState().playing) scheduleNext();
}

/** Shows a recorded batch and writes it into the address. */
export function chooseBatch(batchIndex: number): void {
  const { recording, playing } = useReplay.getState();
  playBatchFromStart(batchIndex);
  if (!playing) useSelection.setState({ recorded: recording?.batches[batchIndex]?.batch.update ?? null });
}

/** Shows the whole recorded batch that the address names, paused, if the recording has it. */
function showAddressedUpdate(): void {
  const { recorded } = useSelection.getState();
  const { recording, knobsDiffer, trainingBegan, batchIndex } = useReplay.getState();
  const recordedIndex = recording?.batches.findIndex(({ batch }) => batch.update === recorded) ?? -1;
  if (
    recorded === null ||
    recordedIndex < 0 ||
    knobsDiffer ||
    trainingBegan ||
    (recordedIndex === batchIndex && useLive.getState().batch.update === recorded)
  )
    return;
  pause();
  putInView(recordedIndex);
  revealTo(null);
}

/** Whether the knobs on the page ask for the recorded environment and model. */
function matchesKnobs({ begun }: Recording): boolean {
  const { env, language, model } = useConfig.getState().wanted;
  return env === begun.env && language === begun.language && model === begun.model;
}

function endReplay(): void {
  pause();
  useReplay.setState({ trainingBegan: true });
  useSelection.setState({ recorded: null });
  hideCurves(); // the run's own curves will follow
  revealTo(null);
}

function putInView(batchIndex: number): void {
  const { recording } = useReplay.getState();
  const recordedBatch = recording?.batches[batchIndex];
  if (!recordedBatch) return;
  if (useLive.getState().shownRecording !== recording) showCurves(new Map(recording.series), recording);
  useReplay.setState({ batchIndex });
  const recordedHealth = recording.readings.get(recordedBatch.batch.update)?.health;
  // an OK would look like a statement about the page's own run
  const health = recordedHealth && recordedHealth.state !== 'ok' ? recordedHealth : null;
  const { batch, config: batchConfig } = recordedBatch;
  useLive.setState({ batch, batchConfig, vocabulary: recording.vocabulary, isExample: true, health });
}

function rollout() {
  return shownRollout(useSelection.getState().row).rollout;
}

/** The end of each turn, in tokens. The prompt appears with the first turn. */
function turnEnds(): number[] {
  return rollout()
    .turns.filter(({ turn }) => turn > 0)
    .map(({ spans }) => (spans.at(-1)?.tokens.at(-1) ?? 0) + 1);
}

function revealTo(revealed: number | null): void {
  isPlayerChange = true;
  useSelection.setState({ revealed });
  isPlayerChange = false;
  if (revealed === null) return;
  // scroll after React has rendered. On a phone this does nothing: there the page itself scrolls, which is left to the
  // reader
  requestAnimationFrame(() => {
    const turns = document.querySelector('.turns');
    if (turns) turns.scrollTop = turns.scrollHeight;
  });
}

/** Schedules the next token, or after a pause the next batch. */
function scheduleNext(): void {
  clearTimeout(timer);
  const { revealed } = useSelection.getState();
  const { words, kinds } = rollout();
  const isComplete = revealed === null || revealed >= words.length;
  const delayMs = isComplete ? ROLLOUT_MS : kinds[revealed] === 'observation' ? OBSERVATION_MS : TOKEN_MS;
  timer = setTimeout(() => {
    if (isComplete) {
      playBatchFromStart(useReplay.getState().batchIndex + 1);
      return;
    }
    // what a training row shows again appears at once
    const isShownAgain = kinds[revealed] === 'prompt';
    const rest = isShownAgain ? kinds.slice(revealed).findIndex((kind) => kind !== 'prompt') : 1;
    revealTo(rest < 0 ? words.length : revealed + rest);
    scheduleNext();
  }, delayMs);
}
