import { FIELDS } from '../../config/config.ts';
import { decimal } from '../../base/decimal.ts';
import { EXPERIMENT_NAMES, EXPERIMENTS, isExperiment } from '../../experiments/experimentList.ts';
import type { Experiment } from '../../experiments/experimentDefinition.ts';
import type { Plan } from '../../experiments/experimentPlan.ts';
import { writesExactly } from '../address/digits.ts';
import { hashSettings, routeOf } from '../address/hash.ts';
import { visible } from '../address/addressText.ts';

/** The most seeds that the page accepts: enough work for one page. */
export const MAX_SEEDS = 20;
const KEYS: readonly string[] = ['experiment', 'seeds', 'updates', 'backend', 'arms'];

/** An experiment's default plan. */
export function defaultPlan(experiment: Plan['experiment']): Plan {
  return { experiment, seeds: EXPERIMENTS[experiment].defaultSeeds, arms: [], updates: null, backend: 'auto' };
}

/** The address of a plan. Contains only what differs from the default plan. */
export function planHash(plan: Plan): string {
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
export function readPlan(hash: string): { readonly plan: Plan; readonly corrections: readonly string[] } {
  const corrections: string[] = [];
  // the address of another screen has knobs, but no plan
  const settings = routeOf(hash) === 'experiments' ? hashSettings(hash, corrections) : new Map<string, string>();
  for (const key of settings.keys()) {
    if (!KEYS.includes(key))
      corrections.push(
        `${visible(key)}: isn’t part of an experiment’s address and was ignored. Use ${KEYS.join(', ')}.`,
      );
  }
  const named = settings.get('experiment');
  const [first = 'ablation'] = EXPERIMENT_NAMES;
  const name = named !== undefined && isExperiment(named) ? named : first;
  if (named !== undefined && named !== name) {
    corrections.push(`experiment: ${visible(named)} isn’t one of ${EXPERIMENT_NAMES.join(', ')}. Showing ${name}.`);
  }
  const defaults = defaultPlan(name);
  const count = <T>(key: string, max: number, otherwise: T): number | T => {
    const text = settings.get(key);
    if (text === undefined) return otherwise;
    const value = Math.round(decimal(text) ?? NaN);
    const clamped = Math.min(max, Math.max(1, value));
    if (Number.isNaN(clamped) || !writesExactly(text, clamped)) {
      const set = Number.isNaN(clamped) ? 'It stays as it was' : `Set to ${clamped}`;
      corrections.push(`${key}: ${visible(text)} isn’t a whole number from 1 to ${max}. ${set}.`);
    }
    return Number.isNaN(clamped) ? otherwise : clamped;
  };
  const { arms }: Experiment = EXPERIMENTS[name];
  const keys = settings.get('arms')?.split(',') ?? [];
  const known = keys.filter((key) => arms.some((arm) => arm.key === key));
  const unknown = keys.filter((key) => !known.includes(key));
  if (unknown.length > 0) corrections.push(`arms: ${name} has no arm ${visible(unknown.join(', '))}. Ignored.`);
  const backend = settings.get('backend');
  const choice = FIELDS.backend.choices.find((c) => c === backend);
  if (backend !== undefined && !choice) {
    corrections.push(`backend: ${visible(backend)} isn’t one of auto, gpu, cpu. Set to ${defaults.backend}.`);
  }
  return {
    plan: {
      experiment: name,
      seeds: count('seeds', MAX_SEEDS, defaults.seeds),
      arms: known,
      updates: count('updates', FIELDS.updates.max, null),
      backend: choice ?? defaults.backend,
    },
    corrections,
  };
}
