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
/** The knobs of an address that names none. */
export const FRONT_PAGE: RunConfig = { ...DEFAULTS, ...PRESETS[FIRST_PRESET].set };

const VERSION = '2';
/**
 * Setting that names a preset, which gives the knobs that the address doesn't name. Never written, because a preset may
 * change later.
 */
const PRESET = 'preset';
/** Setting with the knob changes in the middle of the run. */
const CHANGES = 'changes';
/**
 * Values of the knobs that an address doesn't name, by version. Version 1 used FIELDS' defaults, and its links still
 * do.
 */
const UNNAMED: Readonly<Record<string, RunConfig>> = { 1: DEFAULTS, [VERSION]: FRONT_PAGE };

/** The screen that an address names: `stage` (the start screen) if it is empty, the lab if it names no known screen. */
export function routeOf(hash: string): Route {
  if (isEmptyHash(hash)) return 'stage';
  const name = /^#\/(\w+)(?:$|[?/])/.exec(hash)?.[1];
  return (name === undefined ? undefined : screenNamed(name)) ?? 'lab';
}

/** Whether an address is empty: `#/` or less. */
export function isEmptyHash(hash: string): boolean {
  return /^#?\/?$/.test(hash);
}

/** The part of an address after the screen's name. Empty if there is none, and for screens that have none. */
export function subpathOf(hash: string): string {
  return hasSubpaths(routeOf(hash)) ? (/^#\/\w+\/([^?]*)/.exec(hash)?.[1] ?? '') : '';
}

/** A reader's selection, as an address holds it. */
export interface Selected {
  readonly shownUpdate: number | null; // update whose batch is shown; null: the newest
  readonly recorded: number | null; // update of the recording that is shown; null: the one that plays
  readonly row: number;
  readonly turn: number | null;
  readonly token: number | null;
  readonly channel: Channel;
  readonly hide: string; // parts that a teacher hides: names in HIDEABLE, separated by commas
}
/** The part of a selection that a link points at: an update, and a place in its batch. */
export type LinkTarget = Pick<Selected, 'shownUpdate' | 'recorded' | 'row' | 'turn' | 'token'>;
/** The selection of an address that doesn't name one. */
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
const MAX_NUMBER = 1e6;

/** What an address can hide: panels, and groups of knobs. */
export const HIDEABLE: readonly string[] = [
  ...['controls', 'curves', 'inspector', 'preset', 'screens'],
  ...new Set(Object.values(FIELDS).map(({ group }) => group)),
];

/**
 * The address of a configuration and a selection, with the version of this format. Names every knob that differs from
 * the first preset or from FIELDS' defaults, so that the address keeps its meaning if one of the two changes.
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
  readonly changes?: readonly KnobChange[]; // knob changes in the middle of the run; at least one
  readonly corrections: readonly string[];
}

/**
 * Reads an address. Never throws: bad values are clamped or ignored, and listed in `corrections`. Knobs that it doesn't
 * name have the values of the preset that it names, otherwise those of its version (`UNNAMED`).
 */
export function readHash(hash: string): Address {
  if (hasOwnAddress(routeOf(hash))) return { config: FRONT_PAGE, selected: NOTHING_SELECTED, corrections: [] };
  const corrections: string[] = [];
  const settings = hashSettings(hash, corrections);
  const version = settings.get('v') ?? VERSION;
  const unnamed = Object.hasOwn(UNNAMED, version) ? UNNAMED[version] : undefined;
  if (!unnamed) corrections.push(`v: ${visible(version)} isn’t 1 or ${VERSION}. Read as ${VERSION}.`);
  const base = presetOf(settings, corrections) ?? unnamed ?? FRONT_PAGE;
  const set: Record<string, string | number> = {};
  for (const [name, text] of settings) {
    if (name === 'v' || name === PRESET || name === CHANGES || PARAM_NAMES.includes(name)) continue;
    const value = readKnob(name, text, corrections, (knob) => `Kept at ${knobText(base[knob])}`);
    if (value !== null) set[name] = value;
  }
  const changed = settings.get(CHANGES);
  const changes = changed === undefined ? [] : readChanges(changed, corrections);
  // in-range knobs can still contradict each other; the page shows that beside the knobs, so keep them
  return {
    config: { ...base, ...set },
    selected: selectedBy(settings, corrections),
    ...(changes.length > 0 && { changes }),
    corrections,
  };
}

/**
 * The knobs of the preset that an address names; null if it names none, or an unknown one, which is added to
 * `corrections`.
 */
function presetOf(settings: ReadonlyMap<string, string>, corrections: string[]): RunConfig | null {
  const text = settings.get(PRESET);
  if (text === undefined) return null;
  const found = Object.entries(PRESETS).find(([name]) => name === text);
  if (found) return { ...DEFAULTS, ...found[1].set };
  corrections.push(`preset: ${visible(text)} isn’t one of ${Object.keys(PRESETS).join(', ')}. Ignored.`);
  return null;
}

/**
 * The settings in an address, by name. Of several with one name the last counts. `corrections` gets unknown screens and
 * ignored settings.
 */
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
  const settings = new Map<string, string>();
  // a + is kept, because a number may have one (1e+3) and no value has a space
  for (const [named, text] of new URLSearchParams(query.replaceAll('+', '%2B'))) {
    const name = currentName(named);
    const before = settings.get(name);
    if (before !== undefined && before !== text) {
      corrections.push(
        `${visible(name)}: is there twice, as ${visible(before)} and ${visible(text)}. The last one counts.`,
      );
    }
    settings.set(name, text);
  }
  return settings;
}

/** The selection in an address. Impossible values are ignored and added to `corrections`. */
function selectedBy(settings: ReadonlyMap<string, string>, corrections: string[]): Selected {
  const wholeNumber = (name: string): number | null => {
    const text = settings.get(name);
    if (text === undefined) return null;
    if (/^\d+$/.test(text) && Number(text) <= MAX_NUMBER) return Number(text);
    corrections.push(`${name}: ${visible(text)} isn’t a whole number from 0 to ${MAX_NUMBER}. Ignored.`);
    return null;
  };
  const named = settings.get(PARAMS.channel);
  const channel = CHANNEL_NAMES.find((each) => each === named);
  if (named !== undefined && !channel) {
    corrections.push(`channel: ${visible(named)} isn’t one of ${CHANNEL_NAMES.join(', ')}. Ignored.`);
  }
  const hidden = settings.get(PARAMS.hide)?.split(',') ?? [];
  const unknown = hidden.filter((part) => !HIDEABLE.includes(part));
  if (unknown.length > 0) {
    corrections.push(`hide: ${visible(unknown.join(', '))} can’t be hidden. Use ${HIDEABLE.join(', ')}. Ignored.`);
  }
  return {
    shownUpdate: wholeNumber(PARAMS.shownUpdate),
    recorded: wholeNumber(PARAMS.recorded),
    row: wholeNumber(PARAMS.row) ?? NOTHING_SELECTED.row,
    turn: wholeNumber(PARAMS.turn),
    token: wholeNumber(PARAMS.token),
    channel: channel ?? NOTHING_SELECTED.channel,
    hide: HIDEABLE.filter((part) => hidden.includes(part)).join(),
  };
}
