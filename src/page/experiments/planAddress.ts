import { FIELDS } from '../../config/config.ts';
import { parseDecimal } from '../../base/decimal.ts';
import { EXPERIMENT_NAMES, EXPERIMENTS, isExperiment } from '../../experiments/experimentList.ts';
import type { Experiment } from '../../experiments/experimentDefinition.ts';
import type { ListedPlan } from '../../experiments/experimentPlan.ts';
import { writesExactly } from '../address/digits.ts';
import { hashSettings, routeOf } from '../address/hash.ts';
import { addressExcerpt } from '../address/addressText.ts';

/** The most seeds that the page accepts: enough work for one page. */
export const MAX_SEEDS = 20;
const PLAN_PARAMS: readonly string[] = ['experiment', 'seeds', 'updates', 'backend', 'arms'];

export function defaultPlan(experiment: ListedPlan['experiment']): ListedPlan {
  return { experiment, seeds: EXPERIMENTS[experiment].defaultSeeds, arms: [], updates: null, backend: 'auto' };
}

/** The address of a plan. Contains only what differs from the default plan. */
export function planHash(plan: ListedPlan): string {
  const { seeds, arms, updates, backend, experiment } = plan;
  const defaults = defaultPlan(experiment);
  const parts = [`experiment=${experiment}`];
  if (seeds !== defaults.seeds) parts.push(`seeds=${seeds}`);
  if (updates !== null) parts.push(`updates=${updates}`);
  if (backend !== defaults.backend) parts.push(`backend=${backend}`);
  if (arms.length > 0) parts.push(`arms=${arms.map(encodeURIComponent).join(',')}`);
  return `#/experiments?${parts.join('&')}`;
}

/** Reads an address. Never throws; `corrections` lists what could not be used. */
export function readPlan(hash: string): { readonly plan: ListedPlan; readonly corrections: readonly string[] } {
  const corrections: string[] = [];
  // the address of another screen has knobs, but no plan
  const settings = routeOf(hash) === 'experiments' ? hashSettings(hash, corrections) : new Map<string, string>();
  for (const key of settings.keys()) {
    if (!PLAN_PARAMS.includes(key))
      corrections.push(
        `${addressExcerpt(key)}: isn’t part of an experiment’s address and was ignored. Use ${PLAN_PARAMS.join(', ')}.`,
      );
  }
  const nameText = settings.get('experiment');
  const [first = 'ablation'] = EXPERIMENT_NAMES;
  const name = nameText !== undefined && isExperiment(nameText) ? nameText : first;
  if (nameText !== undefined && nameText !== name) {
    corrections.push(
      `experiment: ${addressExcerpt(nameText)} isn’t one of ${EXPERIMENT_NAMES.join(', ')}. Showing ${name}.`,
    );
  }
  const defaults = defaultPlan(name);
  const readCount = <T>(key: string, max: number, fallback: T): number | T => {
    const text = settings.get(key);
    if (text === undefined) return fallback;
    const value = Math.round(parseDecimal(text) ?? NaN);
    const clamped = Math.min(max, Math.max(1, value));
    if (Number.isNaN(clamped) || !writesExactly(text, clamped)) {
      const outcomeText = Number.isNaN(clamped) ? 'It stays as it was' : `Set to ${clamped}`;
      corrections.push(`${key}: ${addressExcerpt(text)} isn’t a whole number from 1 to ${max}. ${outcomeText}.`);
    }
    return Number.isNaN(clamped) ? fallback : clamped;
  };
  const { arms }: Experiment = EXPERIMENTS[name];
  const armKeys = settings.get('arms')?.split(',') ?? [];
  const known = armKeys.filter((key) => arms.some((arm) => arm.key === key));
  const unknown = armKeys.filter((key) => !known.includes(key));
  if (unknown.length > 0) corrections.push(`arms: ${name} has no arm ${addressExcerpt(unknown.join(', '))}. Ignored.`);
  const backend = settings.get('backend');
  const knownBackend = FIELDS.backend.choices.find((c) => c === backend);
  if (backend !== undefined && !knownBackend) {
    corrections.push(`backend: ${addressExcerpt(backend)} isn’t one of auto, gpu, cpu. Set to ${defaults.backend}.`);
  }
  return {
    plan: {
      experiment: name,
      seeds: readCount('seeds', MAX_SEEDS, defaults.seeds),
      arms: known,
      updates: readCount('updates', FIELDS.updates.max, null),
      backend: knownBackend ?? defaults.backend,
    },
    corrections,
  };
}
