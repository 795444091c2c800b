import { PRESET_CARDS, type PresetResult } from '../../config/presetCards.ts';
import { PRESETS, type PresetName } from '../../config/presets.ts';
import { presetConfig } from '../knobs/configStore.ts';
import { percent } from '../parts/numberText.ts';

const MINUTES_FROM = 100; // seconds; longer times are given in minutes

/**
 * The expected success of a preset, in words: before and after training, how certain that is, and how many runs it is a
 * mean of.
 */
export function expected(result: PresetResult): {
  readonly numbers: string;
  readonly sure: string;
  readonly of: string;
} {
  const { before, after, low, high, seeds } = result;
  const bound = (x: number) => percent(Math.min(1, Math.max(0, x)));
  return {
    numbers: `${percent(before)} → ${percent(after)}`,
    sure: low === null || high === null ? (seeds > 2 ? 'each run had this result' : 'too few seeds for an interval') : `95 % interval ${bound(low)} to ${bound(high)}`, // prettier-ignore
    of: `mean of ${seeds} training runs`,
  };
}

/** The time of an update in this page's run of a preset. */
export interface MeasuredHere {
  readonly preset: PresetName;
  readonly secondsAnUpdate: number;
}

/**
 * How long a preset takes, in words. If the page has a run of a measured preset, the time is scaled by how much slower
 * or faster that run is here. Otherwise it's the measured time. Null if the preset was not measured.
 */
export function timeWords(
  preset: PresetName,
  ownRun: MeasuredHere | null,
): { readonly text: string; readonly hint: string } | null {
  const measured = PRESET_CARDS[preset].result?.seconds;
  if (measured === undefined) return null;
  const known = ownRun && PRESET_CARDS[ownRun.preset].result?.seconds;
  if (ownRun && known) {
    const factor = (ownRun.secondsAnUpdate * presetConfig(ownRun.preset).updates) / known;
    const hint = `Estimated from the run on this page, ${PRESETS[ownRun.preset].label}.`;
    return { text: `about ${durationText(measured * factor)} here`, hint };
  }
  return { text: `${durationText(measured)} on our CPU`, hint: 'Measured on the CPU backend, on two cores of a server. Your machine may be faster or slower.' }; // prettier-ignore
}

function durationText(seconds: number): string {
  return seconds < MINUTES_FROM ? `${Math.max(1, Math.round(seconds))} s` : `${Math.round(seconds / 60)} min`;
}
