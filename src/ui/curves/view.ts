import { create } from 'zustand';
import { MOST_SMOOTHING, SMOOTHING } from '../../runs/smoothing.ts';
import { storedWord, storeWord } from '../parts/storedWord.ts';
import type { XRange } from './xRange.ts';

interface View {
  readonly at: number | null; // update under the crosshair
  readonly range: XRange | null; // updates in view; null: all of them
  readonly chosen: XRange | null; // range being selected by a drag, to zoom into
  readonly smoothing: number; // 0 … MOST_SMOOTHING
  readonly log: boolean; // logarithmic scale for the charts that can have one
}

const KEY = 'rollout-playground-charts';

/** Reads the stored smoothing and scale, such as "0.6 linear". Anything else gives the defaults. */
export function readChartSettings(stored: string | null): Pick<View, 'smoothing' | 'log'> {
  const [, weight, scale] = /^(0|0\.\d{1,6}) (linear|log)$/.exec(stored ?? '') ?? [];
  const smoothing = Number(weight ?? SMOOTHING);
  return { smoothing: smoothing <= MOST_SMOOTHING ? smoothing : SMOOTHING, log: scale === 'log' };
}

/** What all charts share: crosshair, updates in view, smoothing, scale. */
export const useView = create<View>()(() => ({
  at: null,
  range: null,
  chosen: null,
  ...readChartSettings(storedWord(KEY)),
}));

useView.subscribe(({ smoothing, log }, before) => {
  if (smoothing === before.smoothing && log === before.log) return;
  storeWord(KEY, `${Number(smoothing.toFixed(6))} ${log ? 'log' : 'linear'}`);
});

/** Moves the crosshair of all charts to an update; null removes it. */
export function pointAt(at: number | null): void {
  if (at !== useView.getState().at) useView.setState({ at });
}

/** Sets the updates in view in all charts; null: all updates. */
export function showRange(range: XRange | null): void {
  useView.setState({ range, chosen: null });
}

/** Sets the smoothing weight of all curves, clamped to 0 … `MOST_SMOOTHING`. */
export function smoothBy(weight: number): void {
  useView.setState({ smoothing: Math.min(MOST_SMOOTHING, Math.max(0, weight)) });
}

/** Switches the logarithmic scale on or off, for all charts that can have one. */
export function scaleByLog(log: boolean): void {
  useView.setState({ log });
}

let surfaces = 0;

/**
 * Counts a surface of charts as visible. Call the returned function when it goes; the last one resets crosshair and
 * range.
 */
export function registerSurface(): () => void {
  surfaces++;
  return () => {
    if (--surfaces > 0) return;
    useView.setState({ at: null, range: null, chosen: null });
  };
}
