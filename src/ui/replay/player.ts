import { create } from 'zustand';
import type { PresetName } from '../../config/presets.ts';
import { recordedPreset } from '../../config/recordings.ts';
import type { Recording } from '../../runs/recording.ts';
import type { Answer, Question } from '../../wire/questions.ts';
import { currentRoute } from '../address/route.ts';
import { useConfig } from '../knobs/configStore.ts';
import { currentOf } from '../run/currentRollout.ts';
import { live, showCurves, showNoBatch, useLive } from '../run/liveStore.ts';
import { useSelection } from '../shell/selectionStore.ts';
import { recordedRun } from './shippedRecording.ts';

const TOKEN_MS = 180;
const OBSERVATION_MS = 420; // longer than for other tokens, so that the tool's answer is noticed
const ROLLOUT_MS = 2400; // how long a finished rollout stays on screen

interface ReplayState {
  readonly preset: PresetName | null; // the preset of the recording, which may still be loading
  readonly recording: Recording | null; // null: still loading, or missing
  readonly missing: boolean; // whether loading failed
  readonly at: number; // index of the batch in view
  readonly playing: boolean;
  readonly away: boolean; // hidden, because the knobs ask for another environment or model
  readonly over: boolean; // training has begun, so the recording never plays again
}

/** The recorded run that the page shows before the first training. */
export const useReplay = create<ReplayState>()(() => ({
  preset: null,
  recording: null,
  missing: false,
  at: 0,
  playing: false,
  away: false,
  over: false,
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
  const stopSelection = useSelection.subscribe((now, before) => {
    if (now.recorded !== null && now.recorded !== before.recorded) showChosen();
    const selected = now.row !== before.row || now.token !== before.token || now.turn !== before.turn;
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
  const { recording, over, playing } = useReplay.getState();
  if (recording && !over && !playing) play();
}

/** Shows the recorded update nearest to `update`. */
export function toNearest(update: number): void {
  const { recording, over } = useReplay.getState();
  if (!recording || over) return;
  const distance = (at: number) => Math.abs((recording.batches[at]?.batch.update ?? 0) - update);
  toBatch(recording.batches.reduce((best, _, at) => (distance(at) < distance(best) ? at : best), 0));
}

/** Loads a preset's recording and shows it, unless another preset was chosen or training began meanwhile. */
async function load(
  preset: PresetName,
  { plays, hasSelection = false }: { readonly plays: boolean; readonly hasSelection?: boolean },
): Promise<void> {
  const isSuperseded = () => useReplay.getState().over || useReplay.getState().preset !== preset;
  const shown = useReplay.getState().recording !== null;
  if (shown) hideRecording();
  useReplay.setState({ preset, recording: null, missing: false, away: false });
  const recording = await recordedRun(preset).catch(() => null); // the page shows that it's missing
  if (isSuperseded()) return;
  if (!recording) {
    useReplay.setState({ missing: true });
    return;
  }
  const away = !matchesKnobs(recording);
  useReplay.setState({ recording, away });
  if (away) return;
  show(0);
  showChosen();
  if (hasSelection) return;
  revealTo(turnEnds()[0] ?? null);
  if (plays) play();
}

/**
 * Called after a change of knobs. Hides the recording if they ask for another environment or model, and shows it again
 * if they match.
 */
function followKnobs(): void {
  const { recording, away: before } = useReplay.getState();
  if (!recording) return;
  const away = !matchesKnobs(recording);
  if (away === before) return;
  useReplay.setState({ away });
  if (away) hideRecording();
  else toBatch(0);
}

/** Hides the recording. */
function hideRecording(): void {
  pause();
  showNoBatch();
  hideCurves();
  useSelection.setState({ row: 0, token: null, turn: null, revealed: null, recorded: null });
}

/** Hides the recording's curves and its monitor's state. */
function hideCurves(): void {
  if (!live.recorded) return;
  showCurves(new Map());
  useLive.setState({ health: null });
}

/** The answer of the recording in view to a question; null if no recording is in view. */
export function askRecording(question: Question): Promise<Answer> | null {
  const { recording, over } = useReplay.getState();
  if (!recording || over || !live.isExample) return null;
  return import('./answers.ts').then(({ recordedAnswer }) => recordedAnswer(recording, question));
}

/** Continues playing from the current place. */
export function play(): void {
  if (useReplay.getState().away) return;
  useReplay.setState({ playing: true });
  useSelection.setState({ recorded: null });
  if (useSelection.getState().revealed === null) revealTo(turnEnds()[0] ?? null);
  scheduleNext();
}

/** Pauses the recording. */
export function pause(): void {
  clearTimeout(timer);
  useReplay.setState({ playing: false });
}

/** Shows one more turn, or the next recorded update after the last turn, and pauses. */
export function stepReplay(): void {
  pause();
  const shown = useSelection.getState().revealed;
  const endReplay = shown === null ? undefined : turnEnds().find((each) => each > shown);
  if (endReplay === undefined) toBatch(useReplay.getState().at + 1);
  else revealTo(endReplay);
}

/** Shows a recorded batch from the first turn of its rollout. After the last batch comes the first. */
export function toBatch(at: number): void {
  const { recording, away } = useReplay.getState();
  if (!recording || away) return;
  show(at % recording.batches.length);
  revealTo(turnEnds()[0] ?? null);
  if (useReplay.getState().playing) scheduleNext();
}

/** Shows a recorded batch and writes it into the address. */
export function chooseBatch(at: number): void {
  const { recording, playing } = useReplay.getState();
  toBatch(at);
  if (!playing) useSelection.setState({ recorded: recording?.batches[at]?.batch.update ?? null });
}

/** Shows the whole recorded batch that the address names, paused, if the recording has it. */
function showChosen(): void {
  const { recorded } = useSelection.getState();
  const { recording, away, over, at } = useReplay.getState();
  const found = recording?.batches.findIndex(({ batch }) => batch.update === recorded) ?? -1;
  if (recorded === null || found < 0 || away || over || (found === at && live.batch.update === recorded)) return;
  pause();
  show(found);
  revealTo(null);
}

/** Whether the knobs on the page ask for the recorded environment and model. */
function matchesKnobs({ begun }: Recording): boolean {
  const { env, language, model } = useConfig.getState().wanted;
  return env === begun.env && language === begun.language && model === begun.model;
}

function endReplay(): void {
  pause();
  useReplay.setState({ over: true });
  useSelection.setState({ recorded: null });
  hideCurves(); // the run's own curves will follow
  revealTo(null);
}

function show(at: number): void {
  const { recording } = useReplay.getState();
  const recordedBatch = recording?.batches[at];
  if (!recordedBatch) return;
  live.batch = recordedBatch.batch;
  live.vocabulary = recording.vocabulary;
  live.batchConfig = recordedBatch.config;
  live.isExample = true;
  if (live.recorded !== recording) showCurves(new Map(recording.series), recording);
  useReplay.setState({ at });
  const recordedHealth = recording.readings.get(recordedBatch.batch.update)?.health;
  // an OK would look like a statement about the page's own run
  const health = recordedHealth && recordedHealth.state !== 'ok' ? recordedHealth : null;
  useLive.setState((s) => ({ batchVersion: s.batchVersion + 1, health }));
}

function rollout() {
  return currentOf(useLive.getState().batchVersion, useSelection.getState().row).rollout;
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
  // scroll after React has drawn. On a phone this does nothing: there the page itself scrolls, which is left to the
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
  const done = revealed === null || revealed >= words.length;
  const wait = done ? ROLLOUT_MS : kinds[revealed] === 'observation' ? OBSERVATION_MS : TOKEN_MS;
  timer = setTimeout(() => {
    if (done) {
      toBatch(useReplay.getState().at + 1);
      return;
    }
    revealTo(revealed + 1);
    scheduleNext();
  }, wait);
}
