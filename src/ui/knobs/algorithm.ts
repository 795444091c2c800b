import { ALGORITHM_NAMES, ALGORITHMS, algorithmOf, type AlgorithmName } from '../../config/algorithms.ts';
import { FIELDS, type FieldName, type RunConfig } from '../../config/fields.ts';
import { knobText } from '../../config/knobText.ts';
import { edit, useConfig } from './configStore.ts';
import { usesCritic } from '../../config/estimators.ts';

/** The algorithm a configuration is, or comes nearest to, with the knobs that set it apart. */
export interface AlgorithmMatch {
  readonly name: AlgorithmName;
  readonly apart: readonly FieldName[]; // empty: it is that algorithm
}

/** Where a configuration stands among the named algorithms. */
export function algorithmMatch(config: RunConfig): AlgorithmMatch {
  const exact = algorithmOf(config);
  if (exact) return { name: exact, apart: [] };
  const all = ALGORITHM_NAMES.map((name) => ({ name, apart: apart(config, name) }));
  // another estimator is another algorithm, however few knobs differ; of two as near, the one that divides by std alike: without it GRPO is Dr. GRPO
  const weight = ({ apart: names }: AlgorithmMatch) =>
    names.length + (names.includes('estimator') ? 100 : 0) + (names.includes('divideByStd') ? 0.5 : 0);
  return all.reduce((best, next) => (weight(next) < weight(best) ? next : best));
}

/**
 * What a configuration is called: the algorithm, with what sets it apart, as “GRPO with KL β 0.02”; “custom” where its estimator
 * belongs to none.
 */
export function algorithmTitle(config: RunConfig): string {
  const { name, apart } = algorithmMatch(config);
  if (isCustom(apart)) return 'custom';
  const others = apart.map((field) => `${FIELDS[field].label} ${knobText(config[field])}`);
  return [ALGORITHMS[name].label, ...(others.length > 0 ? [`with ${others.join(', ')}`] : [])].join(' ');
}

/** Whether no algorithm has the estimator. */
export const isCustom = (apart: AlgorithmMatch['apart']): boolean => apart.includes('estimator');

function apart(config: RunConfig, name: AlgorithmName): FieldName[] {
  const point: Partial<RunConfig> = ALGORITHMS[name].set;
  return (Object.keys(point) as FieldName[]).filter(
    (field) =>
      config[field] !== point[field] &&
      // a knob without a say at that point does not set apart
      algorithmOf({ ...config, ...point, [field]: config[field] }) !== name,
  );
}

/** Sets all knobs of an algorithm as one change; a critic too where it needs one and there is none, which takes a restart. */
export function chooseAlgorithm(name: AlgorithmName): void {
  const { set } = ALGORITHMS[name];
  const bare = usesCritic(set.estimator) && useConfig.getState().wanted.critic === 'none';
  edit({ ...set, ...(bare && { critic: 'shared' }) });
}

/** Whether the run lacks the critic that the page's algorithm needs. */
export function lacksCritic(wanted: RunConfig, applied: RunConfig | null): boolean {
  return usesCritic(wanted.estimator) && applied?.critic === 'none';
}
