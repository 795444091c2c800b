import { FIELDS } from '../../config/config.ts';
import { decimal } from '../../base/decimal.ts';
import { EXPERIMENT_NAMES, EXPERIMENTS, isExperiment } from '../../experiments/experimentList.ts';
import type { Experiment } from '../../experiments/experimentDefinition.ts';
import type { Plan } from '../../experiments/experimentPlan.ts';
import { writesExactly } from '../address/digits.ts';
import { hashSettings, routeOf } from '../address/hash.ts';
import { visible } from '../address/addressText.ts';

/** More seeds than a page should be left alone with. */
export const MOST_SEEDS = 20;
const KEYS: readonly string[] = ['experiment', 'seeds', 'updates', 'backend', 'arms'];

/** An experiment as it is meant to be run. */
export function defaultPlan(experiment: Plan['experiment']): Plan {
  return { experiment, seeds: EXPERIMENTS[experiment].defaultSeeds, arms: [], updates: null, backend: 'auto' };
}

/** The address of a plan: only what differs from the experiment's own. */
export function planHash(plan: Plan): string {
  const { seeds, arms, updates, backend, experiment } = plan;
  const own = defaultPlan(experiment);
  const parts = [`experiment=${experiment}`];
  if (seeds !== own.seeds) parts.push(`seeds=${seeds}`);
  if (updates !== null) parts.push(`updates=${updates}`);
  if (backend !== own.backend) parts.push(`backend=${backend}`);
  if (arms.length > 0) parts.push(`arms=${arms.map(encodeURIComponent).join(',')}`);
  return `#/experiments?${parts.join('&')}`;
}

/** Reads an address without ever failing; what could not be meant is listed. */
export function readPlan(hash: string): { readonly plan: Plan; readonly corrections: readonly string[] } {
  const corrections: string[] = [];
  // the knobs of another screen are no plan
  const asked = routeOf(hash) === 'experiments' ? hashSettings(hash, corrections) : new Map<string, string>();
  for (const key of asked.keys()) {
    if (!KEYS.includes(key))
      corrections.push(
        `${visible(key)}: isn’t part of an experiment’s address and was ignored. Use ${KEYS.join(', ')}.`,
      );
  }
  const named = asked.get('experiment');
  const [first = 'ablation'] = EXPERIMENT_NAMES;
  const name = named !== undefined && isExperiment(named) ? named : first;
  if (named !== undefined && named !== name) {
    corrections.push(`experiment: ${visible(named)} isn’t one of ${EXPERIMENT_NAMES.join(', ')}. Showing ${name}.`);
  }
  const own = defaultPlan(name);
  const count = <T>(key: string, most: number, otherwise: T): number | T => {
    const text = asked.get(key);
    if (text === undefined) return otherwise;
    const value = Math.round(decimal(text) ?? NaN);
    const clamped = Math.min(most, Math.max(1, value));
    if (Number.isNaN(clamped) || !writesExactly(text, clamped)) {
      const set = Number.isNaN(clamped) ? 'It stays as it was' : `Set to ${clamped}`;
      corrections.push(`${key}: ${visible(text)} isn’t a whole number from 1 to ${most}. ${set}.`);
    }
    return Number.isNaN(clamped) ? otherwise : clamped;
  };
  const { arms }: Experiment = EXPERIMENTS[name];
  const keys = asked.get('arms')?.split(',') ?? [];
  const known = keys.filter((key) => arms.some((arm) => arm.key === key));
  const unknown = keys.filter((key) => !known.includes(key));
  if (unknown.length > 0) corrections.push(`arms: ${name} has no arm ${visible(unknown.join(', '))}. Ignored.`);
  const backend = asked.get('backend');
  const choice = FIELDS.backend.choices.find((c) => c === backend);
  if (backend !== undefined && !choice) {
    corrections.push(`backend: ${visible(backend)} isn’t one of auto, gpu, cpu. Set to ${own.backend}.`);
  }
  return {
    plan: {
      experiment: name,
      seeds: count('seeds', MOST_SEEDS, own.seeds),
      arms: known,
      updates: count('updates', FIELDS.updates.max, null),
      backend: choice ?? own.backend,
    },
    corrections,
  };
}
