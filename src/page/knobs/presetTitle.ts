import { ALGORITHMS } from '../../config/algorithms.ts';
import { YOUR_ENVIRONMENT } from '../../config/environments.ts';
import type { RunConfig } from '../../config/fields.ts';
import { presetNamed, type RunPreset } from '../../config/presets.ts';
import { algorithmMatch } from './algorithm.ts';
import { presetConfig } from './configStore.ts';

interface PresetTitle {
  readonly label: string; // the preset's label, with the algorithm closest to the knobs
  readonly presetAlgorithm: string | null; // the preset's algorithm, if that is another one
}

/** The name of a preset, or of the person's own environment (`ownName`), which is no preset. */
export function presetLabel(preset: RunPreset, ownName: string | null): string {
  return preset === YOUR_ENVIRONMENT && ownName !== null ? ownName : presetNamed(preset).label;
}

export function presetTitle(preset: RunPreset, wanted: RunConfig): PresetTitle {
  const { label } = presetNamed(preset);
  const algorithmLabel = Object.values(ALGORITHMS).find((each) => label.endsWith(` · ${each.label}`))?.label;
  const [presetMatch, currentMatch] = [algorithmMatch(presetConfig(preset)), algorithmMatch(wanted)];
  const currentLabel = ALGORITHMS[currentMatch.name].label;
  const isSameAlgorithm =
    currentLabel === algorithmLabel ||
    (currentMatch.name === presetMatch.name && currentMatch.differingNames.length > 0);
  if (algorithmLabel === undefined || isSameAlgorithm) return { label, presetAlgorithm: null };
  return { label: `${label.slice(0, -algorithmLabel.length)}${currentLabel}`, presetAlgorithm: algorithmLabel };
}
