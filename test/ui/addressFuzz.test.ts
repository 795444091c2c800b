import fc from 'fast-check';
import { expect, test } from 'vitest';
import { contradictions, warnings } from '../../src/config/contradictions.ts';
import { EXPERIMENTS } from '../../src/experiments/experimentList.ts';
import { DEFAULTS, FIELDS, type Field, type FieldName, isFieldName } from '../../src/config/fields.ts';
import { CHAPTERS } from '../../src/page/learn/chapters.ts';
import { readLearnAddress } from '../../src/page/learn/learnAddress.ts';
import { readRolloutsHash } from '../../src/page/files/rolloutsAddress.ts';
import { readEnvironmentHash } from '../../src/page/environment/environmentAddress.ts';
import { readPlan } from '../../src/page/experiments/planAddress.ts';
import { FRONT_PAGE_CONFIG, hashOf, subpathOf, readHash, routeOf } from '../../src/page/address/hash.ts';
import { hasOwnAddress, hasSubpaths, SCREEN_LIST } from '../../src/page/address/screens.ts';
import { addressExcerpt } from '../../src/page/address/addressText.ts';
import { hostileValue, PAIR, TEXT } from './hostile.ts';

const ADDRESSES = 2_000;
const KNOBS = Object.keys(FIELDS) as FieldName[];
/** The screens whose address means knobs. */
const OF_KNOBS = SCREEN_LIST.map(([route]) => route).filter((route) => !hasOwnAddress(route));
const LOOKED_AT = {
  update: 'shownUpdate',
  recorded: 'recorded',
  rollout: 'row',
  turn: 'turn',
  token: 'token',
  channel: 'channel',
} as const;

/** Whether a text writes exactly this number, by whole-number arithmetic: 1e-3 is .001, and 0x10 is no number. */
function writes(text: string, value: number): boolean {
  const parts = (of: string) => /^(-?)(\d*)\.?(\d*)(?:e([+-]?\d+))?$/i.exec(of);
  const [a, b] = [parts(text), parts(String(value))];
  if (!a || !b || !/\d/.test(text.replace(/e.*/i, ''))) return false;
  const [x, y] = [a, b].map(([, sign, whole = '', fraction = '', exponent = '0']) => ({
    digits: BigInt(`${sign}${whole}${fraction}`.replace(/^-?$/, '0')),
    exponent: Number(exponent) - fraction.length,
  }));
  if (!x || !y) return false;
  if (x.digits === 0n || y.digits === 0n) return x.digits === y.digits;
  const low = Math.min(x.exponent, y.exponent);
  return x.digits * 10n ** BigInt(x.exponent - low) === y.digits * 10n ** BigInt(y.exponent - low);
}

function inRange(name: FieldName, value: unknown): boolean {
  const field: Field = FIELDS[name];
  if ('choices' in field) return typeof value === 'string' && field.choices.includes(value);
  if (typeof value !== 'number' || Object.is(value, -0)) return false;
  return value >= field.min && value <= field.max && (field.integer !== true || Number.isInteger(value));
}

/** What an address asked for and did not get without being told of it; empty: all was told. */
function silent(hash: string): string[] {
  const { config, selection, corrections } = readHash(hash);
  const found: string[] = [];
  const told = (start: string, text = '') =>
    corrections.some((each) => each.startsWith(`${start}:`) && each.includes(text));
  const path = hash.includes('?') ? hash.slice(0, hash.indexOf('?')) : hash;
  const known = ['', '#', '#/', ...OF_KNOBS.map((screen) => `#/${screen}`)].includes(path);
  const place = hasSubpaths(routeOf(hash)) && path.startsWith(`#/${routeOf(hash)}/`); // told by who reads the place
  if (!known && !place && !told(addressExcerpt(path), 'no such screen')) found.push(`screen ${path}`);
  const query = hash.includes('?') ? hash.slice(hash.indexOf('?') + 1) : '';
  const asked = [...new URLSearchParams(query.replaceAll('+', '%2B'))];
  for (const [name, text] of asked) {
    let got: boolean;
    if (name === 'v') got = (text === '1' || text === '2') && asked.findLast(([key]) => key === 'v')?.[1] === text;
    else if (name === 'hide')
      got = [...new Set(text.split(','))].sort().join() === selection.hide.split(',').sort().join();
    else if (Object.hasOwn(LOOKED_AT, name)) {
      const value = selection[LOOKED_AT[name as keyof typeof LOOKED_AT]];
      got = typeof value === 'number' ? writes(text, value) : value === text;
    } else if (isFieldName(name)) {
      const value = config[name];
      got = typeof value === 'number' ? writes(text, value) : value === text;
    } else got = false;
    if (!got && !told(addressExcerpt(name), name === 'hide' ? '' : isFieldName(name) ? addressExcerpt(text) : ''))
      found.push(`${name}=${text}`);
  }
  const version = asked.findLast(([key]) => key === 'v')?.[1];
  const base = version === '1' ? DEFAULTS : FRONT_PAGE_CONFIG;
  for (const name of KNOBS) {
    if (!asked.some(([key]) => key === name) && config[name] !== base[name])
      found.push(`${name}, which nobody asked for`);
  }
  return found;
}

/** A hostile address: known and unknown names, repeated now and then, values of all kinds, encoded or raw. */
const ADDRESS = fc
  .record({
    path: fc.oneof(
      { weight: 3, arbitrary: fc.constant('#/lab') },
      { weight: OF_KNOBS.length, arbitrary: fc.constantFrom(...OF_KNOBS.map((screen) => `#/${screen}`)) },
      fc
        .tuple(fc.constantFrom(...SCREEN_LIST.flatMap(([route]) => (hasSubpaths(route) ? [route] : []))), TEXT)
        .map(([route, text]) => `#/${route}/${encode(text)}`),
      { weight: 6, arbitrary: fc.constantFrom('', '#', '#/', '#/nowhere', '#/lab/x', '#lab') },
      TEXT,
    ),
    pairs: fc.array(fc.tuple(fc.nat(4), PAIR), { maxLength: 7 }),
    again: fc.constantFrom(null, null, '1', '9', ''), // the first pair once more, ending otherwise
    mark: fc.boolean(),
  })
  .map(({ path, pairs, again, mark }) => {
    const written = pairs.map(([kind, [name, value]]) =>
      kind === 0 ? `${name}=${value}` : `${encode(name)}=${encode(value)}`,
    );
    if (again !== null && written[0] !== undefined) written.push(written[0].replace(/.$/u, again));
    return `${path}${written.length > 0 || mark ? '?' : ''}${written.join('&')}`;
  });

/** Half surrogates cannot be percent-encoded. */
function wellFormed(text: string): string {
  return text.replace(/\p{Surrogate}/gu, '\ufffd');
}

function encode(text: string): string {
  return encodeURIComponent(wellFormed(text));
}

test('2,000 hostile addresses: none throws, no value is out of range, nothing is changed or left out in silence', () => {
  let corrected = 0;
  const judge = fc.property(ADDRESS, (hash) => {
    const { config, selection, corrections } = readHash(hash);
    if (corrections.length > 0) corrected++;
    contradictions(config);
    warnings(config);
    const again = readHash(hashOf(config, { route: routeOf(hash), selected: selection, subpath: subpathOf(hash) }));
    expect({
      knobs: Object.keys(config).join(),
      outOfRange: KNOBS.filter((name) => !inRange(name, config[name])).join(),
      silent: silent(hash).join(),
      again: JSON.stringify(again),
    }).toEqual({
      ...{ knobs: KNOBS.join(), outOfRange: '', silent: '' },
      again: JSON.stringify({ config, selection, corrections: [] }),
    });
  });
  fc.assert(judge, { seed: 20261122, numRuns: ADDRESSES });
  // most of them ask for something that cannot be, or this would show nothing; some do not, or all would be told off
  expect(corrected).toBeGreaterThan(ADDRESSES / 2);
  expect(corrected).toBeLessThan(ADDRESSES);
});

interface OwnAddress {
  readonly keys: readonly string[];
  /** What a value is drawn from, beside hostile ones. */
  readonly values: readonly string[];
  readonly read: (hash: string) => {
    readonly got: Readonly<Record<string, unknown>>;
    readonly fits: boolean; // whether all of it can be meant
    readonly corrections: readonly string[];
  };
}

/** The readers of the screens whose address means something of its own. */
const OWN: Readonly<Record<string, OwnAddress>> = {
  environment: {
    keys: ['name', 'code', 'text', '__proto__', ''],
    values: ['a.ts', 'q80vAgA', 'AAAA', 'S0xKTgEA'],
    read: (hash) => {
      const { file, corrections } = readEnvironmentHash(hash);
      const { name, code } = Object.fromEntries(new URLSearchParams(hash.replace(/.*\?/, '').replaceAll('+', '%2B')));
      // without a file the name has nothing to name, and what is wrong is told of the code
      return {
        got: file ? { name: file.name, code } : { name },
        fits: (file?.text.length ?? 0) < 100,
        corrections,
      };
    },
  },
  experiments: {
    keys: ['experiment', 'seeds', 'updates', 'backend', 'arms', 'file', 'seed', '__proto__', ''],
    values: [...Object.keys(EXPERIMENTS), 'auto', 'gpu', 'cpu', 'AAAA', 'S0xKTgEA'],
    read: (hash) => {
      const { plan, file, corrections } = readPlan(hash);
      const counts = [plan.seeds, plan.updates ?? 1].every((x) => Number.isInteger(x) && x >= 1 && x <= 100_000);
      const named = Object.hasOwn(EXPERIMENTS, plan.experiment) && ['auto', 'gpu', 'cpu'].includes(plan.backend);
      const code = new URLSearchParams(hash.replace(/.*\?/, '').replaceAll('+', '%2B')).getAll('file').at(-1);
      return { got: { ...plan, ...(file !== null && { file: code }) }, fits: counts && named, corrections };
    },
  },
  rollouts: {
    keys: ['rollout', 'beside', 'look', 'sample', 'row', '__proto__', ''],
    values: ['rollout', 'pair', 'group', 'steps', '0', '1', '12'],
    read: (hash) => {
      const { row, beside, look, sample, corrections } = readRolloutsHash(hash);
      const fits =
        [row, beside].every((each) => each === null || Number.isSafeInteger(each)) &&
        ['rollout', 'pair', 'group', 'steps'].includes(look);
      return { got: { rollout: row, beside, look, sample: sample ? '1' : null }, fits, corrections };
    },
  },
};

test('every screen with an address of its own has its reader fuzzed below', () => {
  const own = SCREEN_LIST.filter(([route]) => hasOwnAddress(route)).map(([route]) => route);
  expect(Object.keys(OWN).sort()).toEqual(own.sort());
});

test.each(Object.entries(OWN))(
  '2,000 hostile addresses of %s: none throws, nothing read is out of range, nothing is silent',
  (name, { keys, values, read }) => {
    const pair = fc.constantFrom(...keys).chain((key) => {
      const hostile = hostileValue(key === 'arms' ? 'env' : 'updates');
      return fc.tuple(fc.constant(key), fc.oneof(fc.constantFrom(...values), { weight: 2, arbitrary: hostile }));
    });
    const judge = fc.property(fc.array(pair, { minLength: 1, maxLength: 4 }), (asked) => {
      const hash = `#/${name}?${asked.map(([key, value]) => `${encode(key)}=${encode(value)}`).join('&')}`;
      const { got, fits, corrections } = read(hash);
      const silentOf: string[] = [];
      for (const [key, raw] of asked) {
        const text = wellFormed(raw);
        const value: unknown = Object.hasOwn(got, key) ? got[key] : undefined;
        const same =
          typeof value === 'number'
            ? writes(text, value)
            : Array.isArray(value)
              ? value.join() === text
              : value === text;
        const told = corrections.some((each) => each.startsWith(`${addressExcerpt(key)}:`));
        if (!same && !told) silentOf.push(key);
      }
      expect({ fits, silentOf }).toEqual({ fits: true, silentOf: [] });
    });
    fc.assert(judge, { seed: 7, numRuns: ADDRESSES });
  },
);

test('2,000 hostile places of Learn: none throws, and what is not shown is told', () => {
  const ids = CHAPTERS.flatMap(({ id, exercises }) => [id, ...exercises.map((each) => each.id)]);
  const known = fc.constantFrom('class', ...ids);
  const part = fc.oneof({ weight: 3, arbitrary: known }, TEXT.map(encode));
  const judge = fc.property(fc.array(part, { maxLength: 4 }), (asked) => {
    const { chapter, exercise, correctionMessages } = readLearnAddress(subpathOf(`#/learn/${asked.join('/')}?v=2`));
    const shown = [chapter, exercise].filter((each) => each !== null).join('/');
    if (shown !== asked.filter((part) => part !== '').join('/')) expect(correctionMessages).not.toEqual([]);
  });
  fc.assert(judge, { seed: 11, numRuns: 2_000 });
});

test('what nobody could type is shown as it is written, and cut', () => {
  expect(addressExcerpt('a\u202eb\u200d\u3164\u2800\ue000')).toBe('a\\u{202e}b\\u{200d}\\u{3164}\\u{2800}\\u{e000}');
  expect(addressExcerpt('\ud800')).toBe('\\u{d800}');
  expect(addressExcerpt('x'.repeat(1000))).toBe(`${'x'.repeat(60)}… (1000 characters)`);
});
