import { create } from 'zustand';
import { MOST_SMOOTHING, SMOOTHING } from '../../runs/smoothing.ts';
import { storedWord, storeWord } from '../parts/storedWord.ts';
import type { XRange } from './xRange.ts';

interface View {
  readonly at: number | null; // update under the crosshair
  readonly range: XRange | null; // updates in view; null: all of them
  readonly chosen: XRange | null; // being drawn over the charts, to be looked at closer
  readonly smoothing: number; // 0 … MOST_SMOOTHING
  readonly log: boolean; // a logarithmic scale where there can be one
}

const KEY = 'rollout-playground-charts';

/** How the last visit drew charts: "0.6 linear". Anything else is taken for nothing. */
export function drawnAs(kept: string | null): Pick<View, 'smoothing' | 'log'> {
  const [, weight, scale] = /^(0|0\.\d{1,6}) (linear|log)$/.exec(kept ?? '') ?? [];
  const smoothing = Number(weight ?? SMOOTHING);
  return { smoothing: smoothing <= MOST_SMOOTHING ? smoothing : SMOOTHING, log: scale === 'log' };
}

/** What all charts show alike: where their crosshair stands, which updates are in view, how they are smoothed and scaled. */
export const useView = create<View>()(() => ({
  at: null,
  range: null,
  chosen: null,
  ...drawnAs(storedWord(KEY)),
}));

useView.subscribe(({ smoothing, log }, before) => {
  if (smoothing === before.smoothing && log === before.log) return;
  storeWord(KEY, `${Number(smoothing.toFixed(6))} ${log ? 'log' : 'linear'}`);
});

/** Puts the crosshair of all charts at an update; null: takes it away. */
export function pointAt(at: number | null): void {
  if (at !== useView.getState().at) useView.setState({ at });
}

/** Shows some updates in all charts; null: all of them. */
export function look(range: XRange | null): void {
  useView.setState({ range, chosen: null });
}

/** Smooths all curves by a weight, 0 … 0.99; what lies outside is brought within. */
export function smoothBy(weight: number): void {
  useView.setState({ smoothing: Math.min(MOST_SMOOTHING, Math.max(0, weight)) });
}

/** Draws all charts that can be on a logarithmic scale, or none. */
export function scaleByLog(log: boolean): void {
  useView.setState({ log });
}

let surfaces = 0;

/** Charts have come into sight. Returns a function for when they go: with the last of them what was looked at is forgotten. */
export function beginLooking(): () => void {
  surfaces++;
  return () => {
    if (--surfaces > 0) return;
    useView.setState({ at: null, range: null, chosen: null });
  };
}
