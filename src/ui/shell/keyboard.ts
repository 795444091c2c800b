import { CHANNEL_NAMES } from '../rollout/channels.ts';
import { undo } from '../knobs/configStore.ts';
import { currentOf, turnInView } from '../run/currentRollout.ts';
import { useLive } from '../run/liveStore.ts';
import { rolloutInView } from '../address/route.ts';
import { SCREEN_LIST } from '../address/screens.ts';
import { chooseChannel, selectRow, useSelection } from './selectionStore.ts';
import { pause, run, step } from '../run/transport.ts';
import { beginTour } from '../tour/offer.ts';

const toScreens = Object.fromEntries(
  SCREEN_LIST.flatMap(([route, { key }]) => (key ? [[key, () => location.assign(`#/${route}`)] as const] : [])),
);
/** Keys of every screen; the others move about in a rollout. */
const EVERYWHERE = [...Object.keys(toScreens), 'c', 's', '?'];
const TYPING = 'input, textarea, select, [contenteditable]';

/** Single keys of the lab; none acts while someone types, and Space stays with a focused button. */
function onKey(event: KeyboardEvent): void {
  const target = event.target instanceof Element ? event.target : document.body;
  if (event.defaultPrevented || target.closest(TYPING) || document.querySelector('dialog[open]')) return;
  if ((event.ctrlKey || event.metaKey) && event.key === 'z') {
    if (undo()) event.preventDefault();
    return;
  }
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (!useSelection.getState().singleKeys && event.key !== 'Escape') return;
  if (event.key === ' ' && target.closest('button, summary, a')) return;
  const key = event.key.toLowerCase();
  if (!rolloutInView() && !EVERYWHERE.includes(key)) return;
  const act = actions[key] ?? channelKey(event.key);
  if (!act) return;
  event.preventDefault();
  act();
}

const actions: Readonly<Record<string, () => void>> = {
  ' ': () => (useLive.getState().running ? pause() : run()),
  '.': () => stepped(1),
  ',': () => stepped(-1),
  '>': step,
  '[': () => void import('../run/stepping.ts').then((m) => m.toBatch(-1)),
  ']': () => void import('../run/stepping.ts').then((m) => m.toBatch(1)),
  ...toScreens,
  x: () => void import('../comparisons/recipes.ts').then((m) => m.openFork()),
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

function stepped(by: 1 | -1): void {
  void import('../run/stepping.ts').then((m) => m.stepBy(useSelection.getState().scale, by));
}

/** The key M; let go before the code for it has come, it holds nothing. */
function holdMasks(): void {
  const released = new AbortController();
  const { signal } = released;
  const letGo = (event: Event) => {
    if (!(event instanceof KeyboardEvent) || event.key.toLowerCase() === 'm') released.abort();
  };
  addEventListener('keyup', letGo, { signal });
  addEventListener('blur', letGo, { signal });
  void import('../rollout/previewStore.ts').then((preview) => {
    if (signal.aborted) return;
    released.abort();
    preview.pressPreview();
  });
}

function channelKey(key: string): (() => void) | undefined {
  const channel = CHANNEL_NAMES[Number(key) - 1];
  return channel && (() => chooseChannel(channel));
}

function current() {
  return currentOf(useLive.getState().batchVersion, useSelection.getState().row);
}

/** Through the rollouts of the batch, group after group. */
function moveRow(by: number): void {
  const { rows } = current().batch;
  selectRow((useSelection.getState().row + by + rows) % (rows || 1));
}

function moveTurn(by: number): void {
  const now = current();
  const last = now.rollout.turns.at(-1)?.turn ?? 0;
  const turn = Math.min(last, Math.max(1, turnInView(now, useSelection.getState().turn) + by));
  useSelection.setState({ turn, token: null });
}

/** Listens for keys; returns a function that stops. */
export function bindKeyboard(): () => void {
  addEventListener('keydown', onKey);
  return () => removeEventListener('keydown', onKey);
}
