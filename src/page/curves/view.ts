import { create } from 'zustand';
import { MAX_SMOOTHING, SMOOTHING } from '../../runs/smoothing.ts';
import { storedWord, storeWord } from '../browser/storedWord.ts';
import type { XRange } from './xRange.ts';

interface ChartView {
  readonly crosshairUpdate: number | null;
  readonly visibleRange: XRange | null; // updates in view; null: all of them
  readonly draggedRange: XRange | null; // range being selected by a drag, to zoom into
  readonly smoothing: number; // 0 … MAX_SMOOTHING
  readonly log: boolean; // logarithmic scale for the charts that can have one
}

const KEY = 'rollout-playground-charts';

/** Reads the stored smoothing and scale, such as "0.6 linear". Anything else gives the defaults. */
export function readChartSettings(stored: string | null): Pick<ChartView, 'smoothing' | 'log'> {
  const [, weight, scale] = /^(0|0\.\d{1,6}) (linear|log)$/.exec(stored ?? '') ?? [];
  const smoothing = Number(weight ?? SMOOTHING);
  return { smoothing: smoothing <= MAX_SMOOTHING ? smoothing : SMOOTHING, log: scale === 'log' };
}

/** What all charts share: crosshair, updates in view, smoothing, scale. */
export const useChartView = create<ChartView>()(() => ({
  crosshairUpdate: null,
  visibleRange: null,
  draggedRange: null,
  ...readChartSettings(storedWord(KEY)),
}));

useChartView.subscribe(({ smoothing, log }, before) => {
  if (smoothing === before.smoothing && log === before.log) return;
  storeWord(KEY, `${Number(smoothing.toFixed(6))} ${log ? 'log' : 'linear'}`);
});

export function moveCrosshair(update: number | null): void {
  if (update !== useChartView.getState().crosshairUpdate) useChartView.setState({ crosshairUpdate: update });
}

export function showRange(visibleRange: XRange | null): void {
  useChartView.setState({ visibleRange, draggedRange: null });
}

/** Sets the smoothing weight of all curves, clamped to 0 … `MAX_SMOOTHING`. */
export function setSmoothing(weight: number): void {
  useChartView.setState({ smoothing: Math.min(MAX_SMOOTHING, Math.max(0, weight)) });
}

export function setLogScale(log: boolean): void {
  useChartView.setState({ log });
}

let surfaces = 0;

/** Call the returned function when the surface is removed; removing the last one resets crosshair and range. */
export function registerSurface(): () => void {
  surfaces++;
  return () => {
    if (--surfaces > 0) return;
    useChartView.setState({ crosshairUpdate: null, visibleRange: null, draggedRange: null });
  };
}
