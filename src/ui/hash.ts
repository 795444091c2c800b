import { decimal } from '../decimal.ts';
import {
  accepts,
  allowed,
  DEFAULTS,
  FIELDS,
  isFieldName,
  type Field,
  type FieldName,
  type RunConfig,
} from '../fields.ts';
import { PRESETS } from '../presets.ts';
import { CHANNEL_NAMES, type Channel } from './channels.ts';
import { knobText } from './format.ts';

const VERSION = 1;

/** The screens. */
const ROUTES = ['lab', 'group', 'update', 'runs', 'ablate', 'profile', 'learn'] as const;
export type Route = (typeof ROUTES)[number];

/** The screen an address names; the lab where it names none. */
export function routeOf(hash: string): Route {
  const name = /^#\/(\w+)(?:$|[?/])/.exec(hash)?.[1];
  return ROUTES.find((route) => route === name) ?? 'lab';
}

/** What a reader looks at, as an address says it. */
export interface Selected {
  readonly held: number | null; // update whose batch is shown; null: the newest
  readonly row: number;
  readonly turn: number | null;
  readonly token: number | null;
  readonly channel: Channel;
  readonly hide: string; // what a teacher leaves out: names of HIDEABLE, with commas
}
/** What is looked at where an address says nothing of it. */
export const NOTHING_SELECTED: Selected = { held: null, row: 0, turn: null, token: null, channel: 'mask', hide: '' };
const PARAMS = {
  held: 'update',
  row: 'rollout',
  turn: 'turn',
  token: 'token',
  channel: 'channel',
  hide: 'hide',
} as const;
const LARGEST = 1e6;

/** What an address can leave out: panels, and groups of knobs. */
export const HIDEABLE: readonly string[] = [
  ...['controls', 'curves', 'inspector', 'preset', 'screens'],
  ...new Set(Object.values(FIELDS).map(({ group }) => group)),
];

/** The address of a configuration and of what is looked at: only what differs from the defaults, and this format's version. */
export function hashOf(config: RunConfig, route: Route = 'lab', selected: Selected = NOTHING_SELECTED): string {
  const parts = [`v=${VERSION}`];
  for (const [name, field] of Object.entries<Field>(FIELDS)) {
    const value = config[name as FieldName];
    if (value !== field.default) parts.push(`${name}=${encodeURIComponent(knobText(value))}`);
  }
  for (const key of Object.keys(PARAMS) as (keyof Selected)[]) {
    const value = selected[key];
    if (value !== NOTHING_SELECTED[key]) parts.push(`${PARAMS[key]}=${value}`);
  }
  return `#/${route}?${parts.join('&')}`;
}

/** A configuration read from an address, and a sentence for everything in it that had to be changed. */
export interface Address {
  readonly config: RunConfig;
  readonly selected: Selected;
  readonly corrections: readonly string[];
}

/** Reads an address without ever failing: bad values are clamped or left out, and listed. */
export function readHash(hash: string): Address {
  // what follows that screen's name is no knob
  if (routeOf(hash) === 'ablate') {
    const config = { ...DEFAULTS, ...PRESETS['number-hunt'].set };
    return { config, selected: NOTHING_SELECTED, corrections: [] };
  }
  const corrections: string[] = [];
  const set: Record<string, string | number> = {};
  const [, query = ''] = hash.split('?', 2);
  const params = new URLSearchParams(query.replaceAll('+', '%2B')); // names of kernels have it, no value has a space
  const version = params.get('v');
  if (version !== null && version !== String(VERSION)) {
    corrections.push(`v: this address is of version ${version}, the page reads version ${VERSION}.`);
  }
  for (const [name, text] of params) {
    if (name === 'v' || PARAM_NAMES.includes(name)) continue;
    if (!isFieldName(name)) {
      corrections.push(`${name}: no such knob; left out.`);
      continue;
    }
    const value = nearest(FIELDS[name], text);
    if (value === null) corrections.push(`${name}: got ${text}, want ${allowed(FIELDS[name])}; kept the default.`);
    else set[name] = value;
    if (typeof value === 'number' && value !== Number(text)) {
      corrections.push(`${name}: got ${text}, want ${allowed(FIELDS[name])}; set to ${knobText(value)}.`);
    }
  }
  // in-range knobs can still contradict each other; the page shows that beside the knobs, so keep them
  return { config: { ...DEFAULTS, ...set }, selected: selectedBy(params, corrections), corrections };
}

const PARAM_NAMES: readonly string[] = Object.values(PARAMS);

/** What an address asks to look at; what cannot be meant is left out and told. */
function selectedBy(params: URLSearchParams, corrections: string[]): Selected {
  const whole = (name: string): number | null => {
    const text = params.get(name);
    if (text === null) return null;
    if (/^\d+$/.test(text) && Number(text) <= LARGEST) return Number(text);
    corrections.push(`${name}: got ${text}, want a whole number from 0 to ${LARGEST}; left out.`);
    return null;
  };
  const named = params.get(PARAMS.channel);
  const channel = CHANNEL_NAMES.find((each) => each === named);
  if (named !== null && !channel) {
    corrections.push(`channel: got ${named}, want one of ${CHANNEL_NAMES.join(', ')}; left out.`);
  }
  const left = params.get(PARAMS.hide)?.split(',') ?? [];
  const unknown = left.filter((part) => !HIDEABLE.includes(part));
  if (unknown.length > 0)
    corrections.push(`hide: got ${unknown.join(', ')}, want some of ${HIDEABLE.join(', ')}; left out.`);
  return {
    held: whole(PARAMS.held),
    row: whole(PARAMS.row) ?? NOTHING_SELECTED.row,
    turn: whole(PARAMS.turn),
    token: whole(PARAMS.token),
    channel: channel ?? NOTHING_SELECTED.channel,
    hide: HIDEABLE.filter((part) => left.includes(part)).join(),
  };
}

/** The nearest value a field accepts; null where nothing is near. */
function nearest(field: Field, text: string): string | number | null {
  if ('choices' in field) return accepts(field, text) ? text : null;
  const value = decimal(text);
  if (value === null) return null;
  const clamped = Math.min(field.max, Math.max(field.min, value));
  return field.integer ? Math.round(clamped) : clamped;
}
