import { isRecord } from '../base/jsonRecord.ts';
import { contradictions } from '../config/contradictions.ts';
import { DEFAULTS, type Field, type FieldName, FIELDS, type RunConfig } from '../config/fields.ts';
import type { Engine } from '../config/mappedKnob.ts';
import type { Overrides } from './counterparts.ts';
import { COUNTERPARTS } from './mapping.ts';

type Setting = Overrides[string];

/** What a run's own settings say about the knobs. */
export interface TheirSettings {
  readonly engine: Engine;
  readonly knobs: Partial<RunConfig>;
  readonly read: readonly string[]; // names of settings that have the value that the knobs would hand over
  readonly different: readonly string[]; // names of settings whose value no knob stands for
}

/**
 * Knobs that aren't taken over: they fit a large model and a cluster. Groups of knobs that say what is learned are
 * taken, and the number of epochs.
 */
const SCALE: ReadonlySet<FieldName> = new Set(['prompts', 'decodeChunk', 'learningRate', 'minibatches']);
const isTaken = (knob: FieldName): boolean =>
  !SCALE.has(knob) && (['objective', 'masks', 'rollout'].includes(FIELDS[knob].group) || knob === 'epochs');

/**
 * Reads settings of verl or TRL, nested or with dotted names, back into knobs: each knob gets the value with which the
 * table of counterparts (`mapping.ts`) would hand over most of what the settings say. Null if they are neither's.
 */
export function theirSettings(nested: unknown): TheirSettings | null {
  const settings = flattened(nested);
  const engine: Engine | null = settings.has('algorithm.adv_estimator')
    ? 'verl'
    : ['num_generations', 'beta', 'epsilon', 'loss_type', 'scale_rewards'].some((name) => settings.has(name))
      ? 'trl'
      : null;
  if (!engine) return null;
  const start: RunConfig = { ...DEFAULTS, estimator: 'grpo', critic: 'none' };
  let config = start;
  for (const knob of KNOBS) config = withKnob(config, knob, engine, settings);
  if (config.estimator !== 'grpo' && contradictions(config).length > 0) config = { ...config, critic: 'separate' };
  const handedOver = KNOBS.flatMap((knob) => Object.entries(setOf(knob, engine, config)));
  const known = handedOver.filter(([name]) => settings.has(name));
  const agreeing = (agree: boolean) => [
    ...new Set(known.filter(([name, value]) => isEqual(value, settings.get(name)) === agree).map(([name]) => name)),
  ];
  const named = KNOBS.filter((knob) => Object.keys(setOf(knob, engine, config)).some((name) => settings.has(name)));
  return {
    engine,
    knobs: Object.fromEntries([...named, 'estimator' as const, 'critic' as const].map((knob) => [knob, config[knob]])),
    read: agreeing(true),
    different: agreeing(false),
  };
}

const KNOBS = (Object.keys(FIELDS) as FieldName[]).filter((knob) => isTaken(knob) || knob === 'critic');

const setOf = (knob: FieldName, engine: Engine, config: RunConfig): Overrides => {
  const counterpart = COUNTERPARTS[knob][engine];
  return 'set' in counterpart ? counterpart.set(config) : {};
};

/** The configuration with the value of a knob with which most settings are handed over; as it is, if none gives more. */
function withKnob(
  config: RunConfig,
  knob: FieldName,
  engine: Engine,
  settings: ReadonlyMap<string, Setting>,
): RunConfig {
  const named = Object.keys(setOf(knob, engine, config)).map((name) => settings.get(name));
  const agreement = (given: RunConfig) =>
    KNOBS.flatMap((each) => Object.entries(setOf(each, engine, given))).filter(
      ([name, value]) => settings.has(name) && isEqual(value, settings.get(name)),
    ).length;
  const candidates = candidatesOf(FIELDS[knob], named);
  let best = config;
  for (const value of candidates) {
    const next = { ...config, [knob]: value } as RunConfig;
    if (agreement(next) > agreement(best)) best = next;
  }
  return best;
}

/** Values that a knob may have where settings have these values: all choices, or the numbers and their neighbours. */
function candidatesOf(field: Field, values: readonly (Setting | undefined)[]): readonly (string | number)[] {
  if ('choices' in field) return field.choices;
  const numbers = values.flatMap((value) => (typeof value === 'number' ? [value, value - 1] : []));
  return numbers.filter((x) => x >= field.min && x <= field.max && (!field.integer || Number.isInteger(x)));
}

function isEqual(a: Setting | undefined, b: Setting | undefined): boolean {
  if (typeof a === 'number' && typeof b === 'number') return Math.abs(a - b) <= 1e-9 * Math.max(1, Math.abs(a));
  return JSON.stringify(a) === JSON.stringify(b);
}

/** Settings by dotted name, from nested objects or a list of `name=value`. */
function flattened(value: unknown): ReadonlyMap<string, Setting> {
  const into = new Map<string, Setting>();
  if (Array.isArray(value)) {
    for (const entry of value) {
      const [, name, text = ''] = /^\+*([\w.]+)=(.*)$/s.exec(String(entry)) ?? [];
      if (name !== undefined) into.set(name, literal(text));
    }
  } else if (isRecord(value)) nest(value, '', into);
  return into;
}

function nest(value: Readonly<Record<string, unknown>>, prefix: string, into: Map<string, Setting>): void {
  for (const [name, inner] of Object.entries(value)) {
    into.set(prefix + name, inner as Setting);
    if (isRecord(inner)) nest(inner, `${prefix}${name}.`, into);
  }
}

function literal(text: string): Setting {
  if (/^(?:true|false)$/i.test(text)) return text.toLowerCase() === 'true';
  if (/^(?:null|none)$/i.test(text)) return null;
  return text !== '' && Number.isFinite(Number(text)) ? Number(text) : text.replace(/^(['"])(.*)\1$/s, '$2');
}
