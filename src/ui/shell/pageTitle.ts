import { useEffect } from 'react';
import { currentRoute } from '../address/route.ts';
import { fullLabel, type Route } from '../address/screens.ts';
import { useConfig } from '../knobs/configStore.ts';
import { live, useLive } from '../run/liveStore.ts';
import { shownText, shownValue } from '../run/metricText.ts';

const SITE = 'Rollout Playground';

/** What a screen says of itself in the title; empty: nothing. */
interface TitleParts {
  readonly progress: string; // instead of how far the run in the lab is
  readonly shown: string; // what of it is on view: a chapter
}
const NO_PARTS: TitleParts = { progress: '', shown: '' };
let own = NO_PARTS;

/** A title that tells the screens apart, in a tab and among bookmarks: how far it is, the screen, what it shows. */
export function titleOf(route: Route, { progress, shown }: TitleParts = NO_PARTS): string {
  return [progress, fullLabel(route), shown, SITE].filter(Boolean).join(' · ');
}

/** Says in the tab's title which screen it is and how far the run is, hidden or not. `update` is the newest, which the page may not show yet. */
export function writeTitle(update: number): void {
  document.title = titleOf(currentRoute(), { ...own, progress: own.progress || progressOf(update) });
}

function progressOf(update: number): string {
  if (update === 0) return '';
  const { running } = useLive.getState();
  const { updates } = useConfig.getState().wanted;
  const success = shownValue('rollout/success', live.series.get('rollout/success'));
  const share = success === undefined ? '' : ` · ${shownText('rollout/success', success)}`;
  return `${running ? '▶' : '❚❚'} ${update}/${updates}${share}`;
}

/** Has the title say what a screen shows, for as long as it is there. */
export function useTitleParts({ progress = '', shown = '' }: Partial<TitleParts>): void {
  useEffect(() => {
    own = { progress, shown };
    writeTitle(useLive.getState().update);
    return () => {
      own = NO_PARTS;
      writeTitle(useLive.getState().update);
    };
  }, [progress, shown]);
}

const SELDOM_MS = 500;
let written = -Infinity;

/** The same for every update as it comes, twice a second at most: a title costs the browser more than it seems. */
export function refreshTitle(update: number): void {
  if (performance.now() - written < SELDOM_MS) return;
  written = performance.now();
  writeTitle(update);
}
