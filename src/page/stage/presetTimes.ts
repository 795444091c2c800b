import { intervalText } from '../../base/inferenceWords.ts';
import { PRESET_CARDS, type PresetResult } from '../../config/presetCards.ts';
import { PRESETS, type PresetName } from '../../config/presets.ts';
import { presetConfig } from '../knobs/configStore.ts';
import { percent } from '../words/numberText.ts';

const MIN_SECONDS_FOR_MINUTES = 100; // seconds; longer times are given in minutes

/** The expected success of a preset, in words: before and after training, how certain that is, and how many runs it is a mean of. */
export function resultTexts(result: PresetResult): {
  readonly change: string;
  readonly certainty: string;
  readonly average: string;
} {
  const { before, after, low, high, seeds } = result;
  const bound = (x: number) => String(Math.round(100 * Math.min(1, Math.max(0, x))));
  return {
    change: `${percent(before)} → ${percent(after)}`,
    certainty: low === null || high === null ? (seeds > 2 ? 'each run had this result' : 'too few seeds for an interval') : intervalText({ low, high }, bound, ' %'), // prettier-ignore
    average: `mean of ${seeds} training runs`,
  };
}

export interface PageRunTime {
  readonly preset: PresetName;
  readonly secondsPerUpdate: number;
}

/**
 * How long a preset takes, in words. If the page has a run of a measured preset, the time is scaled by how much slower
 * or faster that run is on this machine. Otherwise it is the time that we measured. Null if the preset was not
 * measured.
 */
export function timeWords(
  preset: PresetName,
  pageRun: PageRunTime | null,
): { readonly text: string; readonly hint: string } | null {
  const measuredSeconds = PRESET_CARDS[preset].result?.seconds;
  if (measuredSeconds === undefined) return null;
  const pageRunSeconds = pageRun && PRESET_CARDS[pageRun.preset].result?.seconds;
  if (pageRun && pageRunSeconds) {
    const factor = (pageRun.secondsPerUpdate * presetConfig(pageRun.preset).updates) / pageRunSeconds;
    const hint = `Estimated from the run on this page, ${PRESETS[pageRun.preset].label}.`;
    return { text: `about ${durationText(measuredSeconds * factor)} here`, hint };
  }
  return { text: `${durationText(measuredSeconds)} on our CPU`, hint: 'Measured on the CPU backend, on two cores of a server. Your machine may be faster or slower.' }; // prettier-ignore
}

function durationText(seconds: number): string {
  return seconds < MIN_SECONDS_FOR_MINUTES
    ? `${Math.max(1, Math.round(seconds))} s`
    : `${Math.round(seconds / 60)} min`;
}
