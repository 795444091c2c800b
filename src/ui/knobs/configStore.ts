import { create } from 'zustand';
import { DEFAULTS, type FieldName, FIELDS, type RunConfig } from '../../config/fields.ts';
import { linkedKnobs } from '../../config/linkedKnobs.ts';
import { YOUR_ENVIRONMENT } from '../../config/environments.ts';
import { presetNamed, PRESETS, type PresetName, type RunPreset } from '../../config/presets.ts';
import { FIRST_PRESET, readHash } from '../address/hash.ts';

interface ConfigState {
  readonly wanted: RunConfig; // what the page shows
  readonly applied: RunConfig | null; // what the run has; null before the first run
  readonly preset: RunPreset; // chosen last; knobs may have moved since
  readonly corrections: readonly string[]; // what had to be changed in the address
  readonly past: readonly RunConfig[]; // for undo
  readonly lastEdit: FieldName | null; // edits of one knob in a row undo as one
}

const UNDO_LIMIT = 50;
const NAMES = Object.keys(FIELDS) as FieldName[];
const PRESET_NAMES = Object.keys(PRESETS) as PresetName[];

/** Knobs: those the page shows and those the run has. */
export const useConfig = create<ConfigState>()(() => fromHash(''));

/** The knobs an address asks for, before anything ran. */
export function fromHash(hash: string): ConfigState {
  const { config: wanted, corrections } = readHash(hash);
  return { wanted, applied: null, preset: nearestPreset(wanted), corrections, past: [], lastEdit: null };
}

/** A preset's configuration, complete. */
export function presetConfig(name: RunPreset): RunConfig {
  return { ...DEFAULTS, ...presetNamed(name).set };
}

/** The preset that differs from `config` in the fewest knobs; for an environment that a person wrote its own. */
export function nearestPreset(config: RunConfig): RunPreset {
  if (config.env === YOUR_ENVIRONMENT) return YOUR_ENVIRONMENT;
  const distance = (name: PresetName) => differences(presetConfig(name), config).length;
  return PRESET_NAMES.reduce((best, name) => (distance(name) < distance(best) ? name : best), FIRST_PRESET);
}

/** Names of the knobs in which two configurations differ. */
export function differences(a: RunConfig, b: RunConfig): FieldName[] {
  return NAMES.filter((name) => a[name] !== b[name]);
}

/** Changes knobs in the page, and those that follow them. */
export function edit(changes: Partial<RunConfig>): void {
  useConfig.setState(({ wanted, past, lastEdit }) => {
    const names = Object.keys(changes) as FieldName[];
    const [only] = names;
    const again = names.length === 1 && only !== undefined && only === lastEdit;
    return {
      wanted: { ...wanted, ...changes, ...linkedKnobs(wanted, changes) },
      past: again ? past : [...past, wanted].slice(-UNDO_LIMIT),
      lastEdit: names.length === 1 && only !== undefined ? only : null,
    };
  });
}

/** Takes the last edit back; false when there is none. */
export function undo(): boolean {
  const before = useConfig.getState().past.at(-1);
  if (!before) return false;
  useConfig.setState(({ past }) => ({ wanted: before, past: past.slice(0, -1), lastEdit: null }));
  return true;
}

/** Takes a preset over, knob by knob; undo brings the old knobs back. */
export function choosePreset(name: RunPreset): void {
  edit(presetConfig(name));
  useConfig.setState({ preset: name });
}
