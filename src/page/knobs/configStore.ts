import { create } from 'zustand';
import { DEFAULTS, type FieldName, FIELDS, pickKnobs, type RunConfig } from '../../config/fields.ts';
import { isDue, type KnobChange, withoutKnobs, linkedKnobs } from '../../config/knobChange.ts';
import { YOUR_ENVIRONMENT } from '../../config/environments.ts';
import { presetNamed, PRESETS, type PresetName, type RunPreset } from '../../config/presets.ts';
import { FRONT_PAGE_PRESET, readHash } from '../address/hash.ts';

/** A run from a link: the knobs at its start, and the knob changes planned for later updates. */
interface KnobPlan {
  readonly startConfig: RunConfig;
  readonly changes: readonly KnobChange[]; // at least one
}

interface ConfigState {
  readonly wanted: RunConfig; // what the page shows
  readonly applied: RunConfig | null; // what the run has; null before the first run
  readonly planned: KnobPlan | null; // knob changes from a link; a knob that the reader changes leaves the plan
  readonly preset: RunPreset; // chosen last; knobs may have changed since
  readonly corrections: readonly string[]; // messages on what the address said and could not be used as it is
  readonly undoHistory: readonly RunConfig[]; // for undo
  readonly lastEditedKnob: FieldName | null; // edits of one knob in a row undo as one
}

const UNDO_LIMIT = 50;
const NAMES = Object.keys(FIELDS) as FieldName[];
const PRESET_NAMES = Object.keys(PRESETS) as PresetName[];

export const useConfig = create<ConfigState>()(() => configStateFromHash(''));

/** The state before any run, with the knobs of an address. */
export function configStateFromHash(hash: string): ConfigState {
  const { config: wanted, corrections, changes, recording } = readHash(hash);
  const planned = changes ? { startConfig: wanted, changes } : null;
  return {
    wanted,
    applied: null,
    planned,
    preset: recording ?? nearestPreset(wanted),
    corrections,
    undoHistory: [],
    lastEditedKnob: null,
  };
}

export function presetConfig(name: RunPreset): RunConfig {
  return { ...DEFAULTS, ...presetNamed(name).set };
}

/** The preset that differs from `config` in the fewest knobs. A person's own environment has a preset of its own. */
export function nearestPreset(config: RunConfig): RunPreset {
  if (config.env === YOUR_ENVIRONMENT) return YOUR_ENVIRONMENT;
  const distance = (name: PresetName) => knobDifferences(presetConfig(name), config).length;
  return PRESET_NAMES.reduce((best, name) => (distance(name) < distance(best) ? name : best), FRONT_PAGE_PRESET);
}

export function knobDifferences(a: RunConfig, b: RunConfig): FieldName[] {
  return NAMES.filter((name) => a[name] !== b[name]);
}

/** Leaves out the seed: it only chooses the random draws, and the page itself may choose another. */
export function changedFromPreset(preset: RunPreset, config: RunConfig): FieldName[] {
  return knobDifferences(presetConfig(preset), config).filter((name) => name !== 'seed');
}

/** Changes knobs in the page, and the knobs linked to them. */
export function editKnobs(changes: Partial<RunConfig>): void {
  useConfig.setState(({ wanted, planned, undoHistory, lastEditedKnob }) => {
    const names = Object.keys(changes) as FieldName[];
    const [onlyName] = names;
    const isSameKnob = names.length === 1 && onlyName !== undefined && onlyName === lastEditedKnob;
    return {
      wanted: { ...wanted, ...changes, ...linkedKnobs(wanted, changes) },
      planned: planWithout(planned, names),
      undoHistory: isSameKnob ? undoHistory : [...undoHistory, wanted].slice(-UNDO_LIMIT),
      lastEditedKnob: names.length === 1 && onlyName !== undefined ? onlyName : null,
    };
  });
}

/** Undoes the last edit. False if there is none. */
export function undoEdit(): boolean {
  const before = useConfig.getState().undoHistory.at(-1);
  if (!before) return false;
  useConfig.setState(({ wanted, planned, undoHistory }) => ({
    ...{ wanted: before, undoHistory: undoHistory.slice(0, -1), lastEditedKnob: null },
    planned: planWithout(planned, knobDifferences(wanted, before)),
  }));
  return true;
}

/** Sets all knobs to a preset's values. Undo brings the old values back. */
export function choosePreset(name: RunPreset): void {
  editKnobs(presetConfig(name));
  useConfig.setState({ preset: name });
}

/** Holds the values that the page shows; for a knob that changes during the run, its first value. */
export function addressPlan({ wanted, planned }: Pick<ConfigState, 'wanted' | 'planned'>): KnobPlan {
  if (!planned) return { startConfig: wanted, changes: [] };
  const names = planned.changes.flatMap(({ set }) => Object.keys(set) as FieldName[]);
  return { startConfig: { ...wanted, ...pickKnobs(planned.startConfig, names) }, changes: planned.changes };
}

/** Records that a run begins or continues with these knobs. For knobs with planned changes, the page shows the run's values. */
export function recordRunStart(config: RunConfig): void {
  useConfig.setState((state) => {
    const { changes } = addressPlan(state);
    const names = changes.flatMap(({ set }) => Object.keys(set) as FieldName[]);
    return { applied: config, wanted: { ...state.wanted, ...pickKnobs(config, names) } };
  });
}

/** Records knobs that the run has set itself, as if it had begun with them. The page shows them, and undo leaves them alone. */
export function recordRunKnobs(knobs: Partial<RunConfig>): void {
  useConfig.setState(({ wanted, applied, undoHistory }) => ({
    applied: applied && { ...applied, ...knobs },
    wanted: { ...wanted, ...knobs },
    undoHistory: undoHistory.map((before) => ({ ...before, ...knobs })),
  }));
}

/** The planned changes for a run that began with these knobs. Empty unless it is the run from the link. */
export function plannedChanges(startConfig: RunConfig): readonly KnobChange[] {
  const { planned } = useConfig.getState();
  const differences = planned ? knobDifferences(planned.startConfig, startConfig) : [];
  // the number of updates only says where the run ends
  return planned && differences.every((name) => name === 'updates') ? planned.changes : [];
}

/** Runs `change`, and keeps the planned changes if `startConfig` begins the run of the link: a resumed run may be that run. */
export function keepPlannedChanges(startConfig: RunConfig, change: () => void): void {
  const changes = plannedChanges(startConfig);
  change();
  useConfig.setState({ planned: changes.length > 0 ? { startConfig, changes } : null });
}

/** Records knob changes that now act in the run. The page shows those that were planned. */
export function recordKnobChanges({ update, step, changes }: KnobsActing): void {
  useConfig.setState(({ wanted, applied, planned, undoHistory }) => {
    const due = planned?.changes.filter((change) => isDue(change, { update, step })) ?? [];
    const names = due.flatMap(({ set }) => Object.keys(set) as FieldName[]).filter((name) => name in changes);
    const shown = { ...wanted, ...pickKnobs({ ...wanted, ...changes }, names) };
    return {
      applied: applied && { ...applied, ...changes },
      // undo leaves planned changes alone
      ...(names.length > 0 && {
        wanted: shown,
        undoHistory: undoHistory.map((before) => ({ ...before, ...pickKnobs(shown, names) })),
      }),
    };
  });
}

type KnobsActing = Pick<KnobChange, 'update' | 'step'> & { readonly changes: Partial<RunConfig> };

/** Drops all planned changes. The knobs keep their current values. */
export function dropPlannedChanges(): void {
  useConfig.setState({ planned: null });
}

function planWithout(planned: KnobPlan | null, names: readonly FieldName[]): KnobPlan | null {
  if (!planned) return null;
  const changes = withoutKnobs(planned.changes, names);
  return changes.length > 0 ? { ...planned, changes } : null;
}
