import { currentName, DEFAULTS, FIELDS, type FieldName, type RunConfig, knobText } from '../../config/fields.ts';
import type { KnobChange } from '../../config/knobChange.ts';
import { PRESETS, type PresetName } from '../../config/presets.ts';
import { CHANNEL_NAMES, type Channel } from '../rollout/channels.ts';
import { changesText, readChanges } from './knobChanges.ts';
import { readKnob } from './knobValue.ts';
import { hasOwnAddress, hasSubpaths, type Route, SCREEN_LIST, screenNamed } from './screens.ts';
import { addressExcerpt } from './addressText.ts';

export const FRONT_PAGE_PRESET: PresetName = 'number-hunt';
/** The knobs of an address that names none. */
export const FRONT_PAGE_CONFIG: RunConfig = { ...DEFAULTS, ...PRESETS[FRONT_PAGE_PRESET].set };

const ADDRESS_VERSION = '2';
/** Names a preset, which gives the knobs that the address doesn't name. Never written, because a preset may change later. */
const PRESET_PARAM = 'preset';
const CHANGES_PARAM = 'changes';
/** Setting that names the preset whose recording is in view, if it isn't the nearest preset to the knobs. */
const RECORDING_PARAM = 'recording';
const OTHER_PARAMS: readonly string[] = ['v', PRESET_PARAM, CHANGES_PARAM, RECORDING_PARAM];
/** Values of the knobs that an address doesn't name, by its version. In addresses of version 1 they are the defaults of FIELDS. */
const DEFAULTS_BY_VERSION: Readonly<Record<string, RunConfig>> = { 1: DEFAULTS, [ADDRESS_VERSION]: FRONT_PAGE_CONFIG };

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

export interface AddressSelection {
  readonly shownUpdate: number | null; // update whose batch is shown; null: the newest
  readonly recorded: number | null; // update of the recording that is shown; null: the one that plays
  readonly row: number;
  readonly turn: number | null;
  readonly token: number | null;
  readonly beside: string; // second rollout: its row, `file-` and its row among the opened files, `run-` and another run's number; '' for none
  readonly channel: Channel;
  readonly hide: string; // parts that a teacher hides: names in HIDEABLE, separated by commas
}
export type LinkTarget = Pick<AddressSelection, 'shownUpdate' | 'recorded' | 'row' | 'turn' | 'token'>;
export const DEFAULT_SELECTION: AddressSelection = {
  shownUpdate: null,
  recorded: null,
  row: 0,
  turn: null,
  token: null,
  beside: '',
  channel: 'mask',
  hide: '',
};
const PARAMS = {
  shownUpdate: 'update',
  recorded: 'recorded',
  row: 'rollout',
  turn: 'turn',
  token: 'token',
  beside: 'beside',
  channel: 'channel',
  hide: 'hide',
} as const;
const PARAM_NAMES: readonly string[] = Object.values(PARAMS);
const MAX_NUMBER = 1e6;

export const HIDEABLE: readonly string[] = [
  ...['controls', 'curves', 'inspector', 'preset', 'screens'],
  ...new Set(Object.values(FIELDS).map(({ group }) => group)),
];

/** What a link can hold besides knobs. */
interface LinkParts {
  readonly route?: Route;
  readonly selected?: AddressSelection;
  readonly subpath?: string;
  readonly changes?: readonly KnobChange[] | undefined;
  readonly recording?: PresetName | null;
}

/** Writes every knob that differs from the first preset or FIELDS' defaults, so the address keeps its meaning if one of these changes. */
export function hashOf(
  config: RunConfig,
  { route = 'lab', selected = DEFAULT_SELECTION, subpath = '', changes = [], recording = null }: LinkParts = {},
): string {
  const parts = [`v=${ADDRESS_VERSION}`];
  for (const name of Object.keys(FIELDS) as FieldName[]) {
    const value = config[name];
    if (value === FRONT_PAGE_CONFIG[name] && value === DEFAULTS[name]) continue;
    parts.push(`${name}=${encodeURIComponent(knobText(value))}`);
  }
  if (changes.length > 0) parts.push(`${CHANGES_PARAM}=${changesText(changes)}`);
  if (recording) parts.push(`${RECORDING_PARAM}=${recording}`);
  for (const key of Object.keys(PARAMS) as (keyof AddressSelection)[]) {
    const value = selected[key];
    if (value !== DEFAULT_SELECTION[key]) parts.push(`${PARAMS[key]}=${value}`);
  }
  return `#/${route}${subpath && `/${subpath}`}?${parts.join('&')}`;
}

/** `corrections`: a sentence for everything that had to be changed. */
export interface ParsedAddress {
  readonly config: RunConfig;
  readonly selection: AddressSelection;
  readonly changes?: readonly KnobChange[]; // knob changes in the middle of the run; at least one
  readonly recording?: PresetName; // the preset whose recording is in view
  readonly corrections: readonly string[];
}

/**
 * Reads an address. Never throws: bad values are clamped or ignored, and listed in `corrections`. Knobs that
 * the address doesn't name have the values of the preset that it names, or else of its version (`DEFAULTS_BY_VERSION`).
 */
export function readHash(hash: string): ParsedAddress {
  if (hasOwnAddress(routeOf(hash))) return { config: FRONT_PAGE_CONFIG, selection: DEFAULT_SELECTION, corrections: [] };
  const corrections: string[] = [];
  const settings = hashSettings(hash, corrections);
  const version = settings.get('v') ?? ADDRESS_VERSION;
  const versionDefaults = Object.hasOwn(DEFAULTS_BY_VERSION, version) ? DEFAULTS_BY_VERSION[version] : undefined;
  if (!versionDefaults)
    corrections.push(`v: ${addressExcerpt(version)} isn’t 1 or ${ADDRESS_VERSION}. Read as ${ADDRESS_VERSION}.`);
  const preset = presetOf(PRESET_PARAM, settings, corrections);
  const base = preset ? { ...DEFAULTS, ...PRESETS[preset].set } : (versionDefaults ?? FRONT_PAGE_CONFIG);
  const recording = presetOf(RECORDING_PARAM, settings, corrections);
  const set: Record<string, string | number> = {};
  for (const [name, text] of settings) {
    if (OTHER_PARAMS.includes(name) || PARAM_NAMES.includes(name)) continue;
    const value = readKnob(name, text, corrections, (knob) => `Kept at ${knobText(base[knob])}`);
    if (value !== null) set[name] = value;
  }
  const changesParam = settings.get(CHANGES_PARAM);
  const changes = changesParam === undefined ? [] : readChanges(changesParam, corrections);
  // in-range knobs can still contradict each other; the page shows that beside the knobs, so keep them
  return {
    config: { ...base, ...set },
    selection: readSelection(settings, corrections),
    ...(changes.length > 0 && { changes }),
    ...(recording && { recording }),
    corrections,
  };
}

/** The preset that a setting names; null if there is none, or an unknown one, which is added to `corrections`. */
function presetOf(param: string, settings: ReadonlyMap<string, string>, corrections: string[]): PresetName | null {
  const text = settings.get(param);
  if (text === undefined) return null;
  const names = Object.keys(PRESETS) as PresetName[];
  const preset = names.find((name) => name === text);
  if (!preset) corrections.push(`${param}: ${addressExcerpt(text)} isn’t one of ${names.join(', ')}. Ignored.`);
  return preset ?? null;
}

/** Settings by name: the last of several with one name counts. Adds unknown screens and ignored settings to `corrections`. */
export function hashSettings(hash: string, corrections: string[]): ReadonlyMap<string, string> {
  const queryStart = hash.indexOf('?');
  const [path, query] = queryStart < 0 ? [hash, ''] : [hash.slice(0, queryStart), hash.slice(queryStart + 1)];
  const isKnownScreen = path.startsWith('#/') && (screenNamed(path.slice(2)) ?? hasSubpaths(routeOf(path)));
  if (!isEmptyHash(path) && !isKnownScreen) {
    const names = SCREEN_LIST.map(([route]) => route);
    corrections.push(
      `${addressExcerpt(path)}: no such screen. Showing ${routeOf(hash)}. The screens are ${names.join(', ')}.`,
    );
  }
  const settings = new Map<string, string>();
  // a + is kept, because a number may have one (1e+3) and no value has a space
  for (const [rawName, text] of new URLSearchParams(query.replaceAll('+', '%2B'))) {
    const name = currentName(rawName);
    const previous = settings.get(name);
    if (previous !== undefined && previous !== text) {
      corrections.push(
        `${addressExcerpt(name)}: is there twice, as ${addressExcerpt(previous)} and ${addressExcerpt(text)}. The last one counts.`,
      );
    }
    settings.set(name, text);
  }
  return settings;
}

/** The selection in an address. Impossible values are ignored and added to `corrections`. */
function readSelection(settings: ReadonlyMap<string, string>, corrections: string[]): AddressSelection {
  const readWholeNumber = (name: string): number | null => {
    const text = settings.get(name);
    if (text === undefined) return null;
    if (/^\d+$/.test(text) && Number(text) <= MAX_NUMBER) return Number(text);
    corrections.push(`${name}: ${addressExcerpt(text)} isn’t a whole number from 0 to ${MAX_NUMBER}. Ignored.`);
    return null;
  };
  const channelText = settings.get(PARAMS.channel);
  const channel = CHANNEL_NAMES.find((each) => each === channelText);
  if (channelText !== undefined && !channel) {
    corrections.push(`channel: ${addressExcerpt(channelText)} isn’t one of ${CHANNEL_NAMES.join(', ')}. Ignored.`);
  }
  const beside = settings.get(PARAMS.beside) ?? '';
  const isRollout = /^(?:file-|run-)?\d{1,6}$/.test(beside);
  if (beside !== '' && !isRollout)
    corrections.push(
      `beside: ${addressExcerpt(beside)} isn’t a rollout, such as 3 or file-3, nor a run, such as run-3. Ignored.`,
    );
  const hidden = settings.get(PARAMS.hide)?.split(',') ?? [];
  const unknown = hidden.filter((part) => !HIDEABLE.includes(part));
  if (unknown.length > 0) {
    corrections.push(
      `hide: ${addressExcerpt(unknown.join(', '))} can’t be hidden. Use ${HIDEABLE.join(', ')}. Ignored.`,
    );
  }
  return {
    shownUpdate: readWholeNumber(PARAMS.shownUpdate),
    recorded: readWholeNumber(PARAMS.recorded),
    row: readWholeNumber(PARAMS.row) ?? DEFAULT_SELECTION.row,
    turn: readWholeNumber(PARAMS.turn),
    token: readWholeNumber(PARAMS.token),
    beside: isRollout ? beside : '',
    channel: channel ?? DEFAULT_SELECTION.channel,
    hide: HIDEABLE.filter((part) => hidden.includes(part)).join(),
  };
}
