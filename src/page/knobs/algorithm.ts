import { ALGORITHM_NAMES, ALGORITHMS, algorithmOf, type AlgorithmName } from '../../config/algorithms.ts';
import { FIELDS, type FieldName, type RunConfig, knobText } from '../../config/fields.ts';
import { editKnobs, useConfig, presetConfig } from './configStore.ts';
import { usesCritic } from '../../config/estimators.ts';
import { YOUR_ENVIRONMENT } from '../../config/environments.ts';
import { presetNamed, type RunPreset } from '../../config/presets.ts';

export interface AlgorithmMatch {
  readonly name: AlgorithmName;
  readonly differingNames: readonly FieldName[]; // empty: an exact match
}

export function algorithmMatch(config: RunConfig): AlgorithmMatch {
  const exact = algorithmOf(config);
  if (exact) return { name: exact, differingNames: [] };
  const all = ALGORITHM_NAMES.map((name) => ({ name, differingNames: differingKnobs(config, name) }));
  // A different estimator outweighs any number of other knobs. A tie goes to the algorithm with the same divideByStd,
  // because that knob tells GRPO from Dr. GRPO.
  const distance = ({ differingNames: names }: AlgorithmMatch) =>
    names.length + (names.includes('estimator') ? 100 : 0) + (names.includes('divideByStd') ? 0.5 : 0);
  return all.reduce((best, next) => (distance(next) < distance(best) ? next : best));
}

/** For example “GRPO with KL β 0.02”; “custom” if no algorithm has its estimator. */
export function algorithmTitle(config: RunConfig): string {
  const { name, differingNames } = algorithmMatch(config);
  if (isCustom(differingNames)) return 'custom';
  const others = differingNames.map((field) => `${FIELDS[field].label} ${knobText(config[field])}`);
  return [ALGORITHMS[name].label, ...(others.length > 0 ? [`with ${others.join(', ')}`] : [])].join(' ');
}

/** Whether no algorithm has the configuration's estimator. */
export const isCustom = (differing: AlgorithmMatch['differingNames']): boolean => differing.includes('estimator');

function differingKnobs(config: RunConfig, name: AlgorithmName): FieldName[] {
  const preset: Partial<RunConfig> = ALGORITHMS[name].set;
  return (Object.keys(preset) as FieldName[]).filter(
    (field) =>
      config[field] !== preset[field] &&
      // ignore a knob that has no effect in that algorithm
      algorithmOf({ ...config, ...preset, [field]: config[field] }) !== name,
  );
}

/** Sets all knobs of an algorithm as one change. Adds a critic if one is needed and missing, which takes a restart. */
export function chooseAlgorithm(name: AlgorithmName): void {
  const { set } = ALGORITHMS[name];
  const addsCritic = usesCritic(set.estimator) && useConfig.getState().wanted.critic === 'none';
  editKnobs({ ...set, ...(addsCritic && { critic: 'shared' }) });
}

export function lacksCritic(wanted: RunConfig, applied: RunConfig | null): boolean {
  return usesCritic(wanted.estimator) && applied?.critic === 'none';
}

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
