import { DEFAULTS, type FieldName, isFieldName, type RunConfig, knobLabel, knobText } from '../../config/fields.ts';
import { firstSeeds, type Plan, type PlanChoice, plannedRuns } from '../../experiments/experimentPlan.ts';
import { parseSweep } from '../../experiments/sweepFile.ts';

/** An experiment that a person made or opened. Its file is what the command line runs, too. */
export interface OwnExperiment {
  readonly text: string; // its file
  readonly plan: Plan;
}
/** By name. */
export type OwnExperiments = ReadonlyMap<string, OwnExperiment>;

export const OWN_NAME = /^own-\d{1,6}$/;
const MAX_RUNS = 1000; // of one experiment: more are work for the command line
const DEFAULT_SEEDS = 3;

/** Throws ConfigError with every problem, also of settings that contradict each other. */
export function ownExperiment(name: string, text: string): OwnExperiment {
  const plan = parseSweep(text, { name, mostRuns: MAX_RUNS });
  plannedRuns(plan);
  return { text: JSON.stringify(JSON.parse(text), null, 2), plan };
}

/** What a file says of a configuration. The seed is left out, and knobs at their defaults. */
export function fileSettings(config: RunConfig): object {
  const { seed: _, updates, ...others } = config;
  const changed = Object.entries(others).filter(([name, value]) => value !== DEFAULTS[name as FieldName]);
  const set = { ...Object.fromEntries(changed), backend: config.backend };
  return {
    ...{ preset: 'none', set, updates, metric: 'eval/success' },
    columns: [
      ...(config.evalEvery > 0 ? [{ label: 'Before', metric: 'eval/success', take: 'first' }] : []),
      { label: 'After', metric: 'eval/success' },
      { label: 'In training, mean', metric: 'rollout/success', take: 'mean' },
    ],
  };
}

/** The file of an experiment: these settings with each value of a knob, on the first seeds. */
export function valuesFile(config: RunConfig, knob: FieldName | null, values: readonly (string | number)[]): string {
  const label = knob === null ? 'Several seeds' : knobLabel(knob);
  const file = { label, ...fileSettings(config), arms: valueArms(knob, values), seeds: firstSeeds(DEFAULT_SEEDS) };
  return JSON.stringify(file);
}

/** The arms of a file: one for each value of a knob, compared with the first; without a knob, only the settings as they are. */
export function valueArms(knob: FieldName | null, values: readonly (string | number)[]): readonly object[] {
  if (knob === null) return [{ set: {} }];
  const label = (value: string | number) => `${knobLabel(knob)} ${knobText(value)}`;
  const [first = ''] = values;
  return values.map((value, i) => ({
    ...{ label: label(value), set: { [knob]: value } },
    ...(i > 0 && { comparedWith: label(first) }),
  }));
}

/** A file with some parts replaced. */
export function changedFile({ text }: OwnExperiment, changes: object): string {
  return JSON.stringify({ ...(JSON.parse(text) as object), ...changes });
}

/** A file that is run as the form says. */
export function withChoice(mine: OwnExperiment, { seeds, updates, backend }: Partial<PlanChoice>): string {
  const { set } = JSON.parse(mine.text) as { readonly set?: object };
  return changedFile(mine, {
    ...(seeds !== undefined && { seeds: firstSeeds(seeds) }),
    ...(updates != null && { updates }),
    set: { ...set, ...(updates != null && { updates: undefined }), ...(backend && { backend }) },
  });
}

/** The knob whose values are the arms of a file, and the values. Null if its arms are something else. */
export function valuesOf({
  plan: { experiment },
}: OwnExperiment): { readonly knob: FieldName | null; readonly values: readonly (string | number)[] } | null {
  // prettier-ignore
  if (experiment.search) return null;
  const sets = experiment.arms.map((arm) => ('set' in arm ? Object.entries(arm.set) : []));
  if (sets.length === 1 && sets[0]?.length === 0) return { knob: null, values: [] };
  const [knob = ''] = sets.flatMap(([entry]) => entry?.[0] ?? []);
  if (!isFieldName(knob) || sets.some((set) => set.length !== 1 || set[0]?.[0] !== knob)) return null;
  return { knob, values: sets.flatMap((set) => set.map(([, value]) => value)) };
}
