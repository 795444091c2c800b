import { CHANNEL_NAMES } from '../rollout/channels.ts';
import { undoEdit } from '../knobs/configStore.ts';
import { shownRollout, turnInView } from '../view/currentRollout.ts';
import { useLive } from '../view/liveStore.ts';
import { rolloutInView } from '../address/route.ts';
import { SCREEN_LIST } from '../address/screens.ts';
import { chooseChannel, selectRow, useSelection } from '../view/selectionStore.ts';
import { stepBy, toBatch } from '../training/stepping.ts';
import { pause, run, step } from '../training/transport.ts';
import { beginTour } from '../learn/offer.ts';

const screenActions = Object.fromEntries(
  SCREEN_LIST.flatMap(([route, { key }]) => (key ? [[key, () => location.assign(`#/${route}`)] as const] : [])),
);
/** Keys that work on every screen. The others work only where a rollout is in view. */
const GLOBAL_KEYS = [...Object.keys(screenActions), 'c', 's', '?'];
const TEXT_FIELDS = 'input, textarea, select, [contenteditable]';

/** Runs the action of a key. Ignores keys while someone types, and leaves Space to a focused button or link. */
function onKey(event: KeyboardEvent): void {
  const target = event.target instanceof Element ? event.target : document.body;
  if (event.defaultPrevented || target.closest(TEXT_FIELDS) || document.querySelector('dialog[open]')) return;
  if ((event.ctrlKey || event.metaKey) && event.key === 'z') {
    if (undoEdit()) event.preventDefault();
    return;
  }
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (!useSelection.getState().singleKeys && event.key !== 'Escape') return;
  if (event.key === ' ' && target.closest('button, summary, a')) return;
  const key = event.key.toLowerCase();
  if (!rolloutInView() && !GLOBAL_KEYS.includes(key)) return;
  const act = actions[key] ?? channelKey(event.key);
  if (!act) return;
  event.preventDefault();
  act();
}

const actions: Readonly<Record<string, () => void>> = {
  ' ': () => (useLive.getState().running ? pause() : run()),
  '.': () => stepBy(useSelection.getState().scale, 1),
  ',': () => stepBy(useSelection.getState().scale, -1),
  '>': step,
  '[': () => toBatch(-1),
  ']': () => toBatch(1),
  ...screenActions,
  x: () => void import('../experiments/readyComparisons.ts').then((m) => m.openFork()),
  j: () => moveRow(1),
  k: () => moveRow(-1),
  n: () => moveTurn(1),
  b: () => moveTurn(-1),
  t: beginTour,
  m: holdMasks,
  p: () => useSelection.setState({ playing: true }),
  c: () => useSelection.setState({ choosing: true }),
  s: () => useSelection.setState({ sharing: true }),
  '?': () => useSelection.setState({ help: true }),
  escape: () => useSelection.setState({ token: null, turn: null, revealed: null }),
};

/** Key M: previews the other masks while held. Does nothing if the key is released before the code has loaded. */
function holdMasks(): void {
  const released = new AbortController();
  const { signal } = released;
  const onRelease = (event: Event) => {
    if (!(event instanceof KeyboardEvent) || event.key.toLowerCase() === 'm') released.abort();
  };
  addEventListener('keyup', onRelease, { signal });
  addEventListener('blur', onRelease, { signal });
  void import('../training/previewStore.ts').then((preview) => {
    if (signal.aborted) return;
    released.abort();
    preview.previewMasks();
  });
}

function channelKey(key: string): (() => void) | undefined {
  const channel = /^\d$/.test(key) && CHANNEL_NAMES[(Number(key) + 9) % 10]; // 0 is the tenth
  return channel ? () => chooseChannel(channel) : undefined;
}

function current() {
  return shownRollout(useSelection.getState().row);
}

/** Selects another rollout of the batch. Rollouts are ordered by group. */
function moveRow(by: number): void {
  const { rows } = current().batch;
  selectRow((useSelection.getState().row + by + rows) % (rows || 1));
}

function moveTurn(by: number): void {
  const shown = current();
  const last = shown.rollout.turns.at(-1)?.turn ?? 0;
  const turn = Math.min(last, Math.max(1, turnInView(shown, useSelection.getState().turn) + by));
  useSelection.setState({ turn, token: null });
}

/** Listens for keys; returns a function that stops. */
export function bindKeyboard(): () => void {
  addEventListener('keydown', onKey);
  return () => removeEventListener('keydown', onKey);
}
