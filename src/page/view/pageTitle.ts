import { useEffect } from 'react';
import { currentRoute } from '../address/route.ts';
import { fullLabel, type Route } from '../address/screens.ts';
import { useConfig } from '../knobs/configStore.ts';
import { useLive } from './liveStore.ts';
import { shownText, shownValue } from '../words/metricText.ts';

const SITE = 'Rollout Playground';

/** What a screen adds to the page's title. Empty strings add nothing. */
interface TitleParts {
  readonly progress: string; // shown in place of the progress of the lab's run
  readonly shown: string; // what the screen shows, for example a chapter
}
const NO_PARTS: TitleParts = { progress: '', shown: '' };
let screenParts = NO_PARTS;

/** The page's title: progress, screen, what it shows. Tells screens apart in tabs and bookmarks. */
export function titleOf(route: Route, { progress, shown }: TitleParts = NO_PARTS): string {
  return [progress, fullLabel(route), shown, SITE].filter(Boolean).join(' · ');
}

/** Writes the title, also while the page is hidden. `update` is the newest update, which the page may not show yet. */
export function writeTitle(update: number): void {
  document.title = titleOf(currentRoute(), { ...screenParts, progress: screenParts.progress || progressOf(update) });
}

function progressOf(update: number): string {
  if (update === 0) return '';
  const { running } = useLive.getState();
  const { updates } = useConfig.getState().wanted;
  const success = shownValue('rollout/success', useLive.getState().series.get('rollout/success'));
  const share = success === undefined ? '' : ` · ${shownText('rollout/success', success)}`;
  return `${running ? '▶' : '❚❚'} ${update}/${updates}${share}`;
}

/** Adds a screen's parts to the title while the screen is shown. */
export function useTitleParts({ progress = '', shown = '' }: Partial<TitleParts>): void {
  useEffect(() => {
    screenParts = { progress, shown };
    writeTitle(useLive.getState().update);
    return () => {
      screenParts = NO_PARTS;
      writeTitle(useLive.getState().update);
    };
  }, [progress, shown]);
}

const MIN_GAP_MS = 500;
let lastWritten = -Infinity;

/** Writes the title after an update, at most twice a second, because a new title takes the browser surprisingly long. */
export function refreshTitle(update: number): void {
  if (performance.now() - lastWritten < MIN_GAP_MS) return;
  lastWritten = performance.now();
  writeTitle(update);
}
