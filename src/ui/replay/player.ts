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
const OBSERVATION_MS = 420; // what came back is to be noticed
const ROLLOUT_MS = 2400; // a finished rollout stands still this long

interface ReplayState {
  readonly preset: PresetName | null; // whose recording is here, or on its way
  readonly recording: Recording | null; // null: not here yet, or missing
  readonly missing: boolean; // it could not be loaded
  readonly at: number; // batch in view
  readonly playing: boolean;
  readonly away: boolean; // out of view: the knobs ask for another environment, or another model
  readonly over: boolean; // training has begun: it never plays again
}

/** The recorded run that the page shows before anyone has pressed Run. */
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
let own = false; // the selection is being changed by the player itself

/**
 * Loads the recording of the chosen preset and shows its first batch, and that of another one when another is chosen; plays unless
 * motion is unwanted. Ends for good when training begins.
 */
export async function openReplay(): Promise<void> {
  const still = matchMedia('(prefers-reduced-motion: reduce)').matches;
  if (useLive.getState().session !== 'none') return;
  const { held, recorded, token, turn, row } = useSelection.getState();
  // an address that chooses wants to be read
  const asked = held !== null || recorded !== null || token !== null || turn !== null || row !== 0;
  const stopSelection = useSelection.subscribe((now, before) => {
    if (now.recorded !== null && now.recorded !== before.recorded) showChosen();
    const chose = now.row !== before.row || now.token !== before.token || now.turn !== before.turn;
    if (chose && !own && useReplay.getState().playing) {
      pause();
      revealTo(null); // who looks at one place wants the rest to stand still
    }
  });
  const stopConfig = useConfig.subscribe((now, before) => {
    if (now.preset !== before.preset) void load(recordedPreset(now.preset), { plays: !still });
    else if (now.wanted !== before.wanted) follow();
  });
  const stopLive = useLive.subscribe(({ session }) => {
    if (session === 'none') return;
    stopLive();
    stopSelection();
    stopConfig();
    end();
  });
  // the stage has a play of its own: this one goes on with the lab
  await load(recordedPreset(useConfig.getState().preset), { plays: !still && currentRoute() !== 'stage', asked });
}

/** Goes on playing where there is a recording in view, as when the lab is opened from elsewhere. */
export function resumePlayback(): void {
  const { recording, over, playing } = useReplay.getState();
  if (recording && !over && !playing) play();
}

/** Shows the recorded update nearest to one. */
export function toNearest(update: number): void {
  const { recording, over } = useReplay.getState();
  if (!recording || over) return;
  const distance = (at: number) => Math.abs((recording.batches[at]?.batch.update ?? 0) - update);
  toBatch(recording.batches.reduce((best, _, at) => (distance(at) < distance(best) ? at : best), 0));
}

/** Brings a preset's recording into view, where nothing else was chosen or begun meanwhile. */
async function load(
  preset: PresetName,
  { plays, asked = false }: { readonly plays: boolean; readonly asked?: boolean },
): Promise<void> {
  const gone = () => useReplay.getState().over || useReplay.getState().preset !== preset;
  const shown = useReplay.getState().recording !== null;
  if (shown) leave();
  useReplay.setState({ preset, recording: null, missing: false, away: false });
  const recording = await recordedRun(preset).catch(() => null); // the page says that there is none
  if (gone()) return;
  if (!recording) {
    useReplay.setState({ missing: true });
    return;
  }
  const away = !isAbout(recording);
  useReplay.setState({ recording, away });
  if (away) return;
  show(0);
  showChosen();
  if (asked) return;
  revealTo(turnEnds()[0] ?? null);
  if (plays) play();
}

/** Knobs were turned: a recording of another environment or model than they ask for is out of view; with its own it comes back. */
function follow(): void {
  const { recording, away: before } = useReplay.getState();
  if (!recording) return;
  const away = !isAbout(recording);
  if (away === before) return;
  useReplay.setState({ away });
  if (away) leave();
  else toBatch(0);
}

/** Takes what is recorded out of view. */
function leave(): void {
  pause();
  showNoBatch();
  forget();
  useSelection.setState({ row: 0, token: null, turn: null, revealed: null, recorded: null });
}

/** Takes the recording's curves and what its monitor said out of view. */
function forget(): void {
  if (!live.recorded) return;
  showCurves(new Map());
  useLive.setState({ health: null });
}

/** What the recording in view answers to a question; null where none is in view. */
export function askRecording(question: Question): Promise<Answer> | null {
  const { recording, over } = useReplay.getState();
  if (!recording || over || !live.isExample) return null;
  return import('./answers.ts').then(({ recordedAnswer }) => recordedAnswer(recording, question));
}

/** Goes on playing from where it is. */
export function play(): void {
  if (useReplay.getState().away) return;
  useReplay.setState({ playing: true });
  useSelection.setState({ recorded: null });
  if (useSelection.getState().revealed === null) revealTo(turnEnds()[0] ?? null);
  later();
}

/** Stands still. */
export function pause(): void {
  clearTimeout(timer);
  useReplay.setState({ playing: false });
}

/** One turn further, or the next recorded update where the rollout is over; then still. */
export function stepReplay(): void {
  pause();
  const shown = useSelection.getState().revealed;
  const end = shown === null ? undefined : turnEnds().find((each) => each > shown);
  if (end === undefined) toBatch(useReplay.getState().at + 1);
  else revealTo(end);
}

/** Shows a recorded batch from its rollout's first turn on; past the last comes the first. */
export function toBatch(at: number): void {
  const { recording, away } = useReplay.getState();
  if (!recording || away) return;
  show(at % recording.batches.length);
  revealTo(turnEnds()[0] ?? null);
  if (useReplay.getState().playing) later();
}

/** Shows a recorded batch and says so in the address. */
export function chooseBatch(at: number): void {
  const { recording, playing } = useReplay.getState();
  toBatch(at);
  if (!playing) useSelection.setState({ recorded: recording?.batches[at]?.batch.update ?? null });
}

/** Shows all of the recorded batch that the address names, where the recording has it; it stands still. */
function showChosen(): void {
  const { recorded } = useSelection.getState();
  const { recording, away, over, at } = useReplay.getState();
  const found = recording?.batches.findIndex(({ batch }) => batch.update === recorded) ?? -1;
  if (recorded === null || found < 0 || away || over || (found === at && live.batch.update === recorded)) return;
  pause();
  show(found);
  revealTo(null);
}

/** Whether the knobs on the page ask for what was recorded. */
function isAbout({ begun }: Recording): boolean {
  const { env, language, model } = useConfig.getState().wanted;
  return env === begun.env && language === begun.language && model === begun.model;
}

function end(): void {
  pause();
  useReplay.setState({ over: true });
  useSelection.setState({ recorded: null });
  forget(); // the run's own are to come
  revealTo(null);
}

function show(at: number): void {
  const { recording } = useReplay.getState();
  const kept = recording?.batches[at];
  if (!kept) return;
  live.batch = kept.batch;
  live.vocabulary = recording.vocabulary;
  live.batchConfig = kept.config;
  live.isExample = true;
  if (live.recorded !== recording) showCurves(new Map(recording.series), recording);
  useReplay.setState({ at });
  const said = recording.readings.get(kept.batch.update)?.health;
  const health = said && said.state !== 'ok' ? said : null; // an OK would be taken for this page's
  useLive.setState((s) => ({ batchVersion: s.batchVersion + 1, health }));
}

function rollout() {
  return currentOf(useLive.getState().batchVersion, useSelection.getState().row).rollout;
}

/** Where each turn ends, as a number of tokens; the prompt is shown with the first. */
function turnEnds(): number[] {
  return rollout()
    .turns.filter(({ turn }) => turn > 0)
    .map(({ spans }) => (spans.at(-1)?.tokens.at(-1) ?? 0) + 1);
}

function revealTo(revealed: number | null): void {
  own = true;
  useSelection.setState({ revealed });
  own = false;
  if (revealed === null) return;
  // after React has drawn it; on a phone this does nothing, for there the page scrolls and belongs to the reader
  requestAnimationFrame(() => {
    const turns = document.querySelector('.turns');
    if (turns) turns.scrollTop = turns.scrollHeight;
  });
}

/** The next token after its time, or the next batch after a rest. */
function later(): void {
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
    later();
  }, wait);
}
