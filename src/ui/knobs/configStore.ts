import { create } from 'zustand';
import { DEFAULTS, type FieldName, FIELDS, picked, type RunConfig } from '../../config/fields.ts';
import { isDue, type KnobChange, withoutKnobs } from '../../config/knobChange.ts';
import { linkedKnobs } from '../../config/linkedKnobs.ts';
import { YOUR_ENVIRONMENT } from '../../config/environments.ts';
import { presetNamed, PRESETS, type PresetName, type RunPreset } from '../../config/presets.ts';
import { FIRST_PRESET, readHash } from '../address/hash.ts';

/** A run from a link: the knobs at its start, and the knob changes planned for later updates. */
interface Planned {
  readonly begun: RunConfig;
  readonly changes: readonly KnobChange[]; // at least one
}

interface ConfigState {
  readonly wanted: RunConfig; // what the page shows
  readonly applied: RunConfig | null; // what the run has; null before the first run
  readonly planned: Planned | null; // knob changes from a link; a knob that the reader changes leaves the plan
  readonly preset: RunPreset; // chosen last; knobs may have changed since
  readonly corrections: readonly string[]; // what had to be changed in the address
  readonly past: readonly RunConfig[]; // for undo
  readonly lastEdit: FieldName | null; // edits of one knob in a row undo as one
}

const UNDO_LIMIT = 50;
const NAMES = Object.keys(FIELDS) as FieldName[];
const PRESET_NAMES = Object.keys(PRESETS) as PresetName[];

/** The knobs that the page shows and those that the run has. */
export const useConfig = create<ConfigState>()(() => fromHash(''));

/** The state for an address's knobs, before any run. */
export function fromHash(hash: string): ConfigState {
  const { config: wanted, corrections, changes } = readHash(hash);
  const planned = changes ? { begun: wanted, changes } : null;
  return { wanted, applied: null, planned, preset: nearestPreset(wanted), corrections, past: [], lastEdit: null };
}

/** A preset's complete configuration. */
export function presetConfig(name: RunPreset): RunConfig {
  return { ...DEFAULTS, ...presetNamed(name).set };
}

/** The preset that differs from `config` in the fewest knobs. A person's own environment has a preset of its own. */
export function nearestPreset(config: RunConfig): RunPreset {
  if (config.env === YOUR_ENVIRONMENT) return YOUR_ENVIRONMENT;
  const distance = (name: PresetName) => differences(presetConfig(name), config).length;
  return PRESET_NAMES.reduce((best, name) => (distance(name) < distance(best) ? name : best), FIRST_PRESET);
}

/** Names of the knobs in which two configurations differ. */
export function differences(a: RunConfig, b: RunConfig): FieldName[] {
  return NAMES.filter((name) => a[name] !== b[name]);
}

/** Changes knobs in the page, and the knobs linked to them. */
export function edit(changes: Partial<RunConfig>): void {
  useConfig.setState(({ wanted, planned, past, lastEdit }) => {
    const names = Object.keys(changes) as FieldName[];
    const [onlyName] = names;
    const isSameKnob = names.length === 1 && onlyName !== undefined && onlyName === lastEdit;
    return {
      wanted: { ...wanted, ...changes, ...linkedKnobs(wanted, changes) },
      planned: planWithout(planned, names),
      past: isSameKnob ? past : [...past, wanted].slice(-UNDO_LIMIT),
      lastEdit: names.length === 1 && onlyName !== undefined ? onlyName : null,
    };
  });
}

/** Undoes the last edit. False if there is none. */
export function undo(): boolean {
  const before = useConfig.getState().past.at(-1);
  if (!before) return false;
  useConfig.setState(({ wanted, planned, past }) => ({
    ...{ wanted: before, past: past.slice(0, -1), lastEdit: null },
    planned: planWithout(planned, differences(wanted, before)),
  }));
  return true;
}

/** Sets all knobs to a preset's values. Undo brings the old values back. */
export function choosePreset(name: RunPreset): void {
  edit(presetConfig(name));
  useConfig.setState({ preset: name });
}

/**
 * The knobs that an address holds: the values that the page shows; for a knob that changes during the run, its first
 * value.
 */
export function addressed({ wanted, planned }: Pick<ConfigState, 'wanted' | 'planned'>): Planned {
  if (!planned) return { begun: wanted, changes: [] };
  const names = planned.changes.flatMap(({ set }) => Object.keys(set) as FieldName[]);
  return { begun: { ...wanted, ...picked(planned.begun, names) }, changes: planned.changes };
}

/**
 * Records that a run begins or continues with these knobs. For knobs with planned changes, the page shows the run's
 * values.
 */
export function noteBegun(config: RunConfig): void {
  useConfig.setState((state) => {
    const { changes } = addressed(state);
    const names = changes.flatMap(({ set }) => Object.keys(set) as FieldName[]);
    return { applied: config, wanted: { ...state.wanted, ...picked(config, names) } };
  });
}

/** The planned changes for a run that began with these knobs. Empty unless it is the run from the link. */
export function plannedFor(begun: RunConfig): readonly KnobChange[] {
  const { planned } = useConfig.getState();
  return planned && differences(planned.begun, begun).length === 0 ? planned.changes : [];
}

/**
 * Runs `change`, and keeps the planned changes of the run that began with these knobs. For opening the run from a link
 * again.
 */
export function keepPlanned(begun: RunConfig, change: () => void): void {
  const changes = plannedFor(begun);
  change();
  useConfig.setState({ planned: changes.length > 0 ? { begun, changes } : null });
}

/** Records knob changes that now act in the run. The page shows those that were planned. */
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

/** Drops all planned changes. The knobs keep their current values. */
export function dropPlanned(): void {
  useConfig.setState({ planned: null });
}

function planWithout(planned: Planned | null, names: readonly FieldName[]): Planned | null {
  if (!planned) return null;
  const changes = withoutKnobs(planned.changes, names);
  return changes.length > 0 ? { ...planned, changes } : null;
}
