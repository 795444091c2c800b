import { FIELDS } from '../../config.ts';
import { decimal } from '../../decimal.ts';
import { EXPERIMENT_NAMES, EXPERIMENTS, isExperiment } from '../../experiments/catalogue.ts';
import type { Experiment } from '../../experiments/experiment.ts';
import type { Plan } from '../../experiments/plan.ts';

/** More seeds than a page should be left alone with. */
export const MOST_SEEDS = 20;

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
  return `#/ablate?${parts.join('&')}`;
}

/** Reads an address without ever failing; what could not be meant is listed. */
export function readPlan(hash: string): { readonly plan: Plan; readonly corrections: readonly string[] } {
  const params = new URLSearchParams(hash.split('?', 2)[1] ?? '');
  const corrections: string[] = [];
  const named = params.get('experiment');
  const [first = 'ablation'] = EXPERIMENT_NAMES;
  const name = named !== null && isExperiment(named) ? named : first;
  if (named !== null && named !== name) {
    corrections.push(`experiment: got ${named}, want one of ${EXPERIMENT_NAMES.join(', ')}; shown is ${name}.`);
  }
  const own = defaultPlan(name);
  const count = <T>(key: string, most: number, otherwise: T): number | T => {
    const text = params.get(key);
    if (text === null) return otherwise;
    const value = Math.round(decimal(text) ?? NaN);
    const clamped = Math.min(most, Math.max(1, value));
    if (Number.isNaN(clamped) || String(clamped) !== text) {
      const set = Number.isNaN(clamped) ? 'left as it was' : `set to ${clamped}`;
      corrections.push(`${key}: got ${text}, want a whole number from 1 to ${most}; ${set}.`);
    }
    return Number.isNaN(clamped) ? otherwise : clamped;
  };
  const { arms }: Experiment = EXPERIMENTS[name];
  const asked = params.get('arms')?.split(',') ?? [];
  const known = asked.filter((key) => arms.some((arm) => arm.key === key));
  if (known.length < asked.length)
    corrections.push(`arms: some of ${asked.join(', ')} do not exist and were left out.`);
  const backend = params.get('backend');
  const choice = FIELDS.backend.choices.find((c) => c === backend);
  if (backend !== null && !choice) corrections.push(`backend: got ${backend}, want one of auto, gpu, cpu.`);
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
