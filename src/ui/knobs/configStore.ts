import { create } from 'zustand';
import { DEFAULTS, type FieldName, FIELDS, picked, type RunConfig } from '../../config/fields.ts';
import { isDue, type KnobChange, withoutKnobs } from '../../config/knobChange.ts';
import { linkedKnobs } from '../../config/linkedKnobs.ts';
import { YOUR_ENVIRONMENT } from '../../config/environments.ts';
import { presetNamed, PRESETS, type PresetName, type RunPreset } from '../../config/presets.ts';
import { FIRST_PRESET, readHash } from '../address/hash.ts';

/** A run as a link brought it: its knobs as it begins, and their changes on the way. */
interface Planned {
  readonly begun: RunConfig;
  readonly changes: readonly KnobChange[]; // at least one
}

interface ConfigState {
  readonly wanted: RunConfig; // what the page shows
  readonly applied: RunConfig | null; // what the run has; null before the first run
  readonly planned: Planned | null; // knobs that change by themselves; one that the reader changes leaves the plan
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
  const { config: wanted, corrections, changes } = readHash(hash);
  const planned = changes ? { begun: wanted, changes } : null;
  return { wanted, applied: null, planned, preset: nearestPreset(wanted), corrections, past: [], lastEdit: null };
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
  useConfig.setState(({ wanted, planned, past, lastEdit }) => {
    const names = Object.keys(changes) as FieldName[];
    const [only] = names;
    const again = names.length === 1 && only !== undefined && only === lastEdit;
    return {
      wanted: { ...wanted, ...changes, ...linkedKnobs(wanted, changes) },
      planned: planWithout(planned, names),
      past: again ? past : [...past, wanted].slice(-UNDO_LIMIT),
      lastEdit: names.length === 1 && only !== undefined ? only : null,
    };
  });
}

/** Takes the last edit back; false when there is none. */
export function undo(): boolean {
  const before = useConfig.getState().past.at(-1);
  if (!before) return false;
  useConfig.setState(({ wanted, planned, past }) => ({
    ...{ wanted: before, past: past.slice(0, -1), lastEdit: null },
    planned: planWithout(planned, differences(wanted, before)),
  }));
  return true;
}

/** Takes a preset over, knob by knob; undo brings the old knobs back. */
export function choosePreset(name: RunPreset): void {
  edit(presetConfig(name));
  useConfig.setState({ preset: name });
}

/** The knobs that an address holds: the values that the page shows; for a knob that changes during the run, its first value. */
export function addressed({ wanted, planned }: Pick<ConfigState, 'wanted' | 'planned'>): Planned {
  if (!planned) return { begun: wanted, changes: [] };
  const names = planned.changes.flatMap(({ set }) => Object.keys(set) as FieldName[]);
  return { begun: { ...wanted, ...picked(planned.begun, names) }, changes: planned.changes };
}

/** A run is there that begins, or goes on, with these knobs. Those that a link changes on the way are the run's again. */
export function noteBegun(config: RunConfig): void {
  useConfig.setState((state) => {
    const { changes } = addressed(state);
    const names = changes.flatMap(({ set }) => Object.keys(set) as FieldName[]);
    return { applied: config, wanted: { ...state.wanted, ...picked(config, names) } };
  });
}

/** The changes on the way for a run that began with these knobs; none unless it is the run that a link brought. */
export function plannedFor(begun: RunConfig): readonly KnobChange[] {
  const { planned } = useConfig.getState();
  return planned && differences(planned.begun, begun).length === 0 ? planned.changes : [];
}

/** Changes knobs while the run that a link brought is opened again: its changes on the way stay. */
export function keepPlanned(begun: RunConfig, change: () => void): void {
  const changes = plannedFor(begun);
  change();
  useConfig.setState({ planned: changes.length > 0 ? { begun, changes } : null });
}

/** Takes over what the run's knobs are now. The page shows it, too, where it was planned. */
export function noteActing({ update, step, changes }: KnobsActing): void {
  useConfig.setState(({ wanted, applied, planned, past }) => {
    const due = planned?.changes.filter((change) => isDue(change, { update, step })) ?? [];
    const names = due.flatMap(({ set }) => Object.keys(set) as FieldName[]).filter((name) => name in changes);
    const shown = { ...wanted, ...picked({ ...wanted, ...changes }, names) };
    return {
      applied: applied && { ...applied, ...changes },
      // undo leaves planned changes alone
      ...(names.length > 0 && { wanted: shown, past: past.map((before) => ({ ...before, ...picked(shown, names) })) }),
    };
  });
}

type KnobsActing = Pick<KnobChange, 'update' | 'step'> & { readonly changes: Partial<RunConfig> };

/** Takes all changes on the way out: the knobs stay as they are. */
export function dropPlanned(): void {
  useConfig.setState({ planned: null });
}

function planWithout(planned: Planned | null, names: readonly FieldName[]): Planned | null {
  if (!planned) return null;
  const changes = withoutKnobs(planned.changes, names);
  return changes.length > 0 ? { ...planned, changes } : null;
}
