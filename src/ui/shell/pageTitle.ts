import { useConfig } from '../knobs/configStore.ts';
import { live, useLive } from '../run/liveStore.ts';
import { shownText, shownValue } from '../run/metricText.ts';

/** Says in the tab's title how far the run is, hidden or not. `update` is the newest, which the page may not show yet. */
export function writeTitle(update: number): void {
  const { running } = useLive.getState();
  const { updates } = useConfig.getState().wanted;
  const success = shownValue('rollout/success', live.series.get('rollout/success'));
  const state = `${running ? '▶' : '❚❚'} ${update}/${updates}${success === undefined ? '' : ` · ${shownText('rollout/success', success)}`}`;
  document.title = update > 0 ? `${state} · Rollout Playground` : 'Rollout Playground';
}

const SELDOM_MS = 500;
let written = -Infinity;

/** The same for every update as it comes, twice a second at most: a title costs the browser more than it seems. */
export function refreshTitle(update: number): void {
  if (performance.now() - written < SELDOM_MS) return;
  written = performance.now();
  writeTitle(update);
}
