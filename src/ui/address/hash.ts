import { currentName, DEFAULTS, FIELDS, type FieldName, type RunConfig } from '../../config/fields.ts';
import type { KnobChange } from '../../config/knobChange.ts';
import { PRESETS, type PresetName } from '../../config/presets.ts';
import { CHANNEL_NAMES, type Channel } from '../rollout/channels.ts';
import { changesText, readChanges } from './knobChanges.ts';
import { readKnob } from './knobValue.ts';
import { knobText } from '../../config/knobText.ts';
import { hasOwnAddress, hasSubpaths, type Route, SCREEN_LIST, screenNamed } from './screens.ts';
import { visible } from './addressText.ts';

/** The preset that the front page runs. */
export const FIRST_PRESET: PresetName = 'number-hunt';
/** What runs where an address names no knob. */
export const FRONT_PAGE: RunConfig = { ...DEFAULTS, ...PRESETS[FIRST_PRESET].set };

const VERSION = '2';
/** Names a preset: what the address does not name is that one's. Read, never written: a preset may change, an address means the same. */
const PRESET = 'preset';
/** Names the changes of knobs in the middle of the run. */
const CHANGES = 'changes';
/** What the knobs are that an address of a version does not name. The first meant FIELDS' defaults, and its links still do. */
const UNNAMED: Readonly<Record<string, RunConfig>> = { 1: DEFAULTS, [VERSION]: FRONT_PAGE };

/** The screen an address names; the stage where there is nothing in it, else the lab where it names none. */
export function routeOf(hash: string): Route {
  if (isEmptyHash(hash)) return 'stage';
  const name = /^#\/(\w+)(?:$|[?/])/.exec(hash)?.[1];
  return (name === undefined ? undefined : screenNamed(name)) ?? 'lab';
}

/** Whether there is nothing in an address: `#/`, or less. */
export function isEmptyHash(hash: string): boolean {
  return /^#?\/?$/.test(hash);
}

/** What stands in an address behind the screen's name; empty where nothing does, and on screens that take nothing there. */
export function subpathOf(hash: string): string {
  return hasSubpaths(routeOf(hash)) ? (/^#\/\w+\/([^?]*)/.exec(hash)?.[1] ?? '') : '';
}

/** What a reader looks at, as an address says it. */
export interface Selected {
  readonly shownUpdate: number | null; // update whose batch is shown; null: the newest
  readonly recorded: number | null; // update of the recording that is shown; null: whichever plays
  readonly row: number;
  readonly turn: number | null;
  readonly token: number | null;
  readonly channel: Channel;
  readonly hide: string; // what a teacher leaves out: names of HIDEABLE, with commas
}
/** An update, and the part of it that lies within its batch. */
export type Pointed = Pick<Selected, 'shownUpdate' | 'recorded' | 'row' | 'turn' | 'token'>;
/** What is looked at where an address says nothing of it. */
export const NOTHING_SELECTED: Selected = {
  shownUpdate: null,
  recorded: null,
  row: 0,
  turn: null,
  token: null,
  channel: 'mask',
  hide: '',
};
const PARAMS = {
  shownUpdate: 'update',
  recorded: 'recorded',
  row: 'rollout',
  turn: 'turn',
  token: 'token',
  channel: 'channel',
  hide: 'hide',
} as const;
const PARAM_NAMES: readonly string[] = Object.values(PARAMS);
const LARGEST = 1e6;

/** What an address can leave out: panels, and groups of knobs. */
export const HIDEABLE: readonly string[] = [
  ...['controls', 'curves', 'inspector', 'preset', 'screens'],
  ...new Set(Object.values(FIELDS).map(({ group }) => group)),
];

/**
 * The address of a configuration and of what is looked at, with this format's version: every knob that differs from the first
 * preset or from FIELDS' defaults, so that the address means the same should one of the two change.
 */
export function hashOf(
  config: RunConfig,
  route: Route = 'lab',
  selected: Selected = NOTHING_SELECTED,
  subpath = '',
  changes: readonly KnobChange[] = [],
): string {
  const parts = [`v=${VERSION}`];
  for (const name of Object.keys(FIELDS) as FieldName[]) {
    const value = config[name];
    if (value === FRONT_PAGE[name] && value === DEFAULTS[name]) continue;
    parts.push(`${name}=${encodeURIComponent(knobText(value))}`);
  }
  if (changes.length > 0) parts.push(`${CHANGES}=${changesText(changes)}`);
  for (const key of Object.keys(PARAMS) as (keyof Selected)[]) {
    const value = selected[key];
    if (value !== NOTHING_SELECTED[key]) parts.push(`${PARAMS[key]}=${value}`);
  }
  return `#/${route}${subpath && `/${subpath}`}?${parts.join('&')}`;
}

/** A configuration read from an address, and a sentence for everything in it that had to be changed. */
export interface Address {
  readonly config: RunConfig;
  readonly selected: Selected;
  readonly changes?: readonly KnobChange[]; // of knobs, in the middle of the run; at least one
  readonly corrections: readonly string[];
}

/** Reads an address and never throws. Bad values are clamped or ignored, and listed. Knobs that it doesn't name have the values of `preset`, or of the first preset. */
export function readHash(hash: string): Address {
  if (hasOwnAddress(routeOf(hash))) return { config: FRONT_PAGE, selected: NOTHING_SELECTED, corrections: [] };
  const corrections: string[] = [];
  const asked = hashSettings(hash, corrections);
  const version = asked.get('v') ?? VERSION;
  const unnamed = Object.hasOwn(UNNAMED, version) ? UNNAMED[version] : undefined;
  if (!unnamed) corrections.push(`v: ${visible(version)} isn’t 1 or ${VERSION}. Read as ${VERSION}.`);
  const base = presetOf(asked, corrections) ?? unnamed ?? FRONT_PAGE;
  const set: Record<string, string | number> = {};
  for (const [name, text] of asked) {
    if (name === 'v' || name === PRESET || name === CHANGES || PARAM_NAMES.includes(name)) continue;
    const value = readKnob(name, text, corrections, (knob) => `Kept at ${knobText(base[knob])}`);
    if (value !== null) set[name] = value;
  }
  const changed = asked.get(CHANGES);
  const changes = changed === undefined ? [] : readChanges(changed, corrections);
  // in-range knobs can still contradict each other; the page shows that beside the knobs, so keep them
  return {
    config: { ...base, ...set },
    selected: selectedBy(asked, corrections),
    ...(changes.length > 0 && { changes }),
    corrections,
  };
}

/** The knobs of the preset that an address names; null if it names none, or an unknown one, which is added to `corrections`. */
function presetOf(asked: ReadonlyMap<string, string>, corrections: string[]): RunConfig | null {
  const text = asked.get(PRESET);
  if (text === undefined) return null;
  const found = Object.entries(PRESETS).find(([name]) => name === text);
  if (found) return { ...DEFAULTS, ...found[1].set };
  corrections.push(`preset: ${visible(text)} isn’t one of ${Object.keys(PRESETS).join(', ')}. Ignored.`);
  return null;
}

/** The settings in an address, by name; the last of several with one name counts. Unknown screens and ignored settings are added to `corrections`. */
export function hashSettings(hash: string, corrections: string[]): ReadonlyMap<string, string> {
  const at = hash.indexOf('?');
  const [path, query] = at < 0 ? [hash, ''] : [hash.slice(0, at), hash.slice(at + 1)];
  const named = path.startsWith('#/') && (screenNamed(path.slice(2)) ?? hasSubpaths(routeOf(path)));
  if (!isEmptyHash(path) && !named) {
    const names = SCREEN_LIST.map(([route]) => route);
    corrections.push(
      `${visible(path)}: no such screen. Showing ${routeOf(hash)}. The screens are ${names.join(', ')}.`,
    );
  }
  const asked = new Map<string, string>();
  // a number may have a + (1e+3), no value has a space
  for (const [named, text] of new URLSearchParams(query.replaceAll('+', '%2B'))) {
    const name = currentName(named);
    const before = asked.get(name);
    if (before !== undefined && before !== text) {
      corrections.push(
        `${visible(name)}: is there twice, as ${visible(before)} and ${visible(text)}. The last one counts.`,
      );
    }
    asked.set(name, text);
  }
  return asked;
}

/** The selection in an address. Impossible values are ignored and added to `corrections`. */
function selectedBy(asked: ReadonlyMap<string, string>, corrections: string[]): Selected {
  const whole = (name: string): number | null => {
    const text = asked.get(name);
    if (text === undefined) return null;
    if (/^\d+$/.test(text) && Number(text) <= LARGEST) return Number(text);
    corrections.push(`${name}: ${visible(text)} isn’t a whole number from 0 to ${LARGEST}. Ignored.`);
    return null;
  };
  const named = asked.get(PARAMS.channel);
  const channel = CHANNEL_NAMES.find((each) => each === named);
  if (named !== undefined && !channel) {
    corrections.push(`channel: ${visible(named)} isn’t one of ${CHANNEL_NAMES.join(', ')}. Ignored.`);
  }
  const left = asked.get(PARAMS.hide)?.split(',') ?? [];
  const unknown = left.filter((part) => !HIDEABLE.includes(part));
  if (unknown.length > 0) {
    corrections.push(`hide: ${visible(unknown.join(', '))} can’t be hidden. Use ${HIDEABLE.join(', ')}. Ignored.`);
  }
  return {
    shownUpdate: whole(PARAMS.shownUpdate),
    recorded: whole(PARAMS.recorded),
    row: whole(PARAMS.row) ?? NOTHING_SELECTED.row,
    turn: whole(PARAMS.turn),
    token: whole(PARAMS.token),
    channel: channel ?? NOTHING_SELECTED.channel,
    hide: HIDEABLE.filter((part) => left.includes(part)).join(),
  };
}
