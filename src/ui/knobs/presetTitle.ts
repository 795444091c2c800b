import { ALGORITHMS } from '../../config/algorithms.ts';
import { YOUR_ENVIRONMENT } from '../../config/environments.ts';
import type { RunConfig } from '../../config/fields.ts';
import { presetNamed, type RunPreset } from '../../config/presets.ts';
import { algorithmMatch } from './algorithm.ts';
import { presetConfig } from './configStore.ts';

/** What is trained as the knobs stand. */
interface PresetTitle {
  readonly label: string; // the preset's, with the algorithm that the knobs make up or come nearest to
  readonly from: string | null; // the preset's algorithm, where it is another
}

/** The name of a preset, or of the person's own environment (`own`), which is no preset. */
export function presetLabel(preset: RunPreset, own: string | null): string {
  return preset === YOUR_ENVIRONMENT && own !== null ? own : presetNamed(preset).label;
}

/** A preset's name, with the algorithm that the current knobs make up. */
export function presetTitle(preset: RunPreset, wanted: RunConfig): PresetTitle {
  const { label } = presetNamed(preset);
  const algorithmLabel = Object.values(ALGORITHMS).find((each) => label.endsWith(` · ${each.label}`))?.label;
  const [before, after] = [algorithmMatch(presetConfig(preset)), algorithmMatch(wanted)];
  const now = ALGORITHMS[after.name].label;
  const same = now === algorithmLabel || (after.name === before.name && after.apart.length > 0);
  if (algorithmLabel === undefined || same) return { label, from: null };
  return { label: `${label.slice(0, -algorithmLabel.length)}${now}`, from: algorithmLabel };
}
