import { allowed, DEFAULTS, FIELDS, isFieldName, type Field, type FieldName, type RunConfig } from '../fields.ts';
import { PRESETS } from '../presets.ts';
import { knobText } from './format.ts';

const VERSION = 1;

/** The screens. */
export type Route = 'lab' | 'ablate';

/** The screen an address names; the lab where it names none. */
export function routeOf(hash: string): Route {
  return /^#\/ablate(?:$|[?/])/.test(hash) ? 'ablate' : 'lab';
}

/** The address of a configuration: only what differs from the defaults, and the version of this format. */
export function hashOf(config: RunConfig): string {
  const parts = [`v=${VERSION}`];
  for (const [name, field] of Object.entries<Field>(FIELDS)) {
    const value = config[name as FieldName];
    if (value !== field.default) parts.push(`${name}=${encodeURIComponent(knobText(value))}`);
  }
  return `#/lab?${parts.join('&')}`;
}

/** A configuration read from an address, and a sentence for everything in it that had to be changed. */
export interface Address {
  readonly config: RunConfig;
  readonly corrections: readonly string[];
}

/** Reads an address without ever failing: bad values are clamped or left out, and listed. */
export function readHash(hash: string): Address {
  // what follows another screen's name is no knob
  if (routeOf(hash) !== 'lab') return { config: { ...DEFAULTS, ...PRESETS['number-hunt'].set }, corrections: [] };
  const corrections: string[] = [];
  const set: Record<string, string | number> = {};
  const [, query = ''] = hash.split('?', 2);
  const params = new URLSearchParams(query);
  const version = params.get('v');
  if (version !== null && version !== String(VERSION)) {
    corrections.push(`v: this address is of version ${version}, the page reads version ${VERSION}.`);
  }
  for (const [name, text] of params) {
    if (name === 'v') continue;
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
  return { config: { ...DEFAULTS, ...set }, corrections };
}

/** The nearest value a field accepts; null where nothing is near. */
function nearest(field: Field, text: string): string | number | null {
  if ('choices' in field) return field.choices.includes(text) ? text : null;
  const value = text.trim() === '' ? NaN : Number(text);
  if (Number.isNaN(value)) return null;
  const clamped = Math.min(field.max, Math.max(field.min, value));
  return field.integer ? Math.round(clamped) : clamped;
}
