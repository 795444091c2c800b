import { FIELDS } from '../../config/config.ts';
import { parseDecimal } from '../../base/decimal.ts';
import { EXPERIMENT_NAMES, isExperiment } from '../../experiments/experimentList.ts';
import { knownPlan, type PlanChoice } from '../../experiments/experimentPlan.ts';
import { writesExactly } from '../address/knobValue.ts';
import { hashSettings, routeOf } from '../address/hash.ts';
import { addressExcerpt } from '../address/addressText.ts';
import { MAX_ADDRESS_CHARACTERS, packedText, unpackedText } from '../address/packedText.ts';
import type { OwnExperiments } from './ownExperiment.ts';

/** The most seeds that the page accepts: enough work for one page. */
export const MAX_SEEDS = 20;
const PLAN_PARAMS: readonly string[] = ['experiment', 'seeds', 'updates', 'backend', 'arms'];
const FILE_PARAM = 'file';

/** An experiment of your own is run as its file says. */
export function defaultPlan(experiment: string, own?: OwnExperiments): PlanChoice {
  const plan = knownPlan(experiment, own);
  const backend = isExperiment(experiment) ? 'auto' : (plan?.experiment.shared.backend ?? 'auto');
  return { experiment, seeds: plan?.seeds.length ?? 1, arms: [], updates: null, backend };
}

/** The address that holds the file of an experiment; null if it would be too long. */
export function fileHash(text: string): string | null {
  const hash = `#/experiments?${FILE_PARAM}=${packedText(JSON.stringify(JSON.parse(text)))}`;
  return hash.length > MAX_ADDRESS_CHARACTERS ? null : hash;
}

/** The address of a plan. Contains only what differs from the default plan, or the file of an experiment of your own, if it isn't too long. */
export function planHash(plan: PlanChoice, own?: OwnExperiments): string {
  const { seeds, arms, updates, backend, experiment } = plan;
  const text = own?.get(experiment)?.text;
  const hash = text === undefined ? null : fileHash(text);
  if (hash !== null) return hash;
  const defaults = defaultPlan(experiment, own);
  const parts = [`experiment=${experiment}`];
  if (seeds !== defaults.seeds) parts.push(`seeds=${seeds}`);
  if (updates !== null) parts.push(`updates=${updates}`);
  if (backend !== defaults.backend) parts.push(`backend=${backend}`);
  if (arms.length > 0) parts.push(`arms=${arms.map(encodeURIComponent).join(',')}`);
  return `#/experiments?${parts.join('&')}`;
}

interface AddressPlan {
  readonly plan: PlanChoice;
  readonly file: string | null; // of the experiment that the link holds, in place of `plan`; unchecked
  readonly corrections: readonly string[];
}

/** Reads an address. Never throws; `corrections` lists what could not be used. */
export function readPlan(hash: string, own?: OwnExperiments): AddressPlan {
  const corrections: string[] = [];
  // the address of another screen has knobs, but no plan
  const settings = routeOf(hash) === 'experiments' ? hashSettings(hash, corrections) : new Map<string, string>();
  const code = settings.get(FILE_PARAM);
  const file = code === undefined ? null : unpackedText(code);
  if (code !== undefined && file === null)
    corrections.push(`${FILE_PARAM}: the link is damaged or cut off, so its experiment can’t be opened. Ask for the link again.`); // prettier-ignore
  for (const key of settings.keys()) {
    if (file !== null && PLAN_PARAMS.includes(key)) corrections.push(`${key}: the file in the link says it. Ignored.`);
    if (!PLAN_PARAMS.includes(key) && key !== FILE_PARAM)
      corrections.push(
        `${addressExcerpt(key)}: isn’t part of an experiment’s address and was ignored. Use ${PLAN_PARAMS.join(', ')}.`,
      );
  }
  const nameText = settings.get('experiment');
  const [first = 'ablation'] = EXPERIMENT_NAMES;
  const name = nameText !== undefined && knownPlan(nameText, own) ? nameText : first;
  if (nameText !== undefined && nameText !== name) {
    corrections.push(
      `experiment: ${addressExcerpt(nameText)} isn’t one of ${EXPERIMENT_NAMES.join(', ')}. Showing ${name}.`,
    );
  }
  const defaults = defaultPlan(name, own);
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
  const arms = knownPlan(name, own)?.experiment.arms ?? [];
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
    file,
    corrections,
  };
}
