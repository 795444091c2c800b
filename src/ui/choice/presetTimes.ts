import { PRESET_CARDS, type PresetResult } from '../../config/presetCards.ts';
import { PRESETS, type PresetName } from '../../config/presets.ts';
import { presetConfig } from '../knobs/configStore.ts';
import { percent } from '../parts/numberText.ts';

const LONG = 100; // seconds that are told as minutes from here on

/** What a preset is expected to come to: success before and after, how sure that is, and on what it rests. */
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

/** A run of a preset that this page has under way or has finished: what one of its updates takes here. */
export interface MeasuredHere {
  readonly preset: PresetName;
  readonly secondsAnUpdate: number;
}

/**
 * How long a preset takes: here, in the proportion in which the run of this page is slower or faster than the same preset where it
 * was measured; else as it was measured. Null where it was not.
 */
export function timeWords(
  preset: PresetName,
  here: MeasuredHere | null,
): { readonly text: string; readonly hint: string } | null {
  const measured = PRESET_CARDS[preset].result?.seconds;
  if (measured === undefined) return null;
  const known = here && PRESET_CARDS[here.preset].result?.seconds;
  if (here && known) {
    const factor = (here.secondsAnUpdate * presetConfig(here.preset).updates) / known;
    const hint = `Estimated from the run on this page, ${PRESETS[here.preset].label}.`;
    return { text: `about ${spent(measured * factor)} here`, hint };
  }
  return { text: `${spent(measured)} on our CPU`, hint: 'Measured on the CPU backend, on two cores of a server. Your machine may be faster or slower.' }; // prettier-ignore
}

function spent(seconds: number): string {
  return seconds < LONG ? `${Math.max(1, Math.round(seconds))} s` : `${Math.round(seconds / 60)} min`;
}
