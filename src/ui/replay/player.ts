import { create } from 'zustand';
import type { Run } from '../../runs/run.ts';
import { useConfig } from '../knobs/configStore.ts';
import { currentOf } from '../run/current.ts';
import { live, showNoBatch, useLive } from '../run/liveStore.ts';
import { useSelection } from '../shell/selectionStore.ts';
import { recordedRun } from './recorded.ts';

const TOKEN_MS = 180;
const OBSERVATION_MS = 420; // what came back is to be noticed
const ROLLOUT_MS = 2400; // a finished rollout stands still this long

interface ReplayState {
  readonly recording: Run | null; // null: not here yet, or missing
  readonly missing: boolean; // it could not be loaded
  readonly at: number; // batch in view
  readonly playing: boolean;
  readonly away: boolean; // out of view, for the knobs ask for another environment
  readonly over: boolean; // training has begun: it never plays again
}

/** The recorded run that the page shows before anyone has pressed Run. */
export const useReplay = create<ReplayState>()(() => ({
  recording: null,
  missing: false,
  at: 0,
  playing: false,
  away: false,
  over: false,
}));

let timer: ReturnType<typeof setTimeout> | undefined;
let own = false; // the selection is being changed by the player itself

/** Loads the recording and shows its first batch; plays unless motion is unwanted. Ends for good when training begins. */
export async function openReplay(): Promise<void> {
  const still = matchMedia('(prefers-reduced-motion: reduce)').matches;
  const recording = await recordedRun().catch(() => null); // the page says that there is none
  if (useLive.getState().session !== 'none' || useReplay.getState().over) return;
  if (!recording) {
    useReplay.setState({ missing: true });
    return;
  }
  useReplay.setState({ recording, away: !isAbout(recording) });
  if (!useReplay.getState().away) show(0);
  const { held, token, turn, row } = useSelection.getState();
  const asked = held !== null || token !== null || turn !== null || row !== 0; // an address that chooses wants to be read
  if (!asked && !useReplay.getState().away) {
    revealTo(turnEnds()[0] ?? null);
    if (!still) play();
  }
  const stopSelection = useSelection.subscribe((now, before) => {
    const chose = now.row !== before.row || now.token !== before.token || now.turn !== before.turn;
    if (chose && !own && useReplay.getState().playing) {
      pause();
      revealTo(null); // who looks at one place wants the rest to stand still
    }
  });
  // a chosen preset of another environment has the stage to itself; with the first one's the recording comes back
  const stopConfig = useConfig.subscribe((now, before) => {
    const away = !isAbout(recording);
    if (now.wanted === before.wanted || away === useReplay.getState().away) return;
    useReplay.setState({ away });
    if (away) {
      pause();
      showNoBatch();
      useSelection.setState({ row: 0, token: null, turn: null, revealed: null });
    } else toBatch(0);
  });
  const stopLive = useLive.subscribe(({ session }) => {
    if (session === 'none') return;
    stopLive();
    stopSelection();
    stopConfig();
    end();
  });
}

/** Goes on playing from where it is. */
export function play(): void {
  if (useReplay.getState().away) return;
  useReplay.setState({ playing: true });
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

/** Whether the knobs on the page ask for what was recorded. */
function isAbout({ begun }: Run): boolean {
  return useConfig.getState().wanted.env === begun.env;
}

function end(): void {
  pause();
  useReplay.setState({ over: true });
  revealTo(null);
}

function show(at: number): void {
  const { recording } = useReplay.getState();
  const kept = recording?.batches[at];
  if (!kept) return;
  live.batch = kept.batch;
  live.vocabulary = recording.vocabulary;
  live.isExample = true;
  useReplay.setState({ at });
  useLive.setState((s) => ({ batchVersion: s.batchVersion + 1 }));
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
