import { DEFAULTS, FIELDS, type Field, isFieldName } from '../../src/config/fields.ts';

/** Chance from a seed: mulberry32. */
export function draws(seed: number) {
  let state = seed >>> 0;
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
  const below = (n: number) => Math.floor(next() * n);
  return {
    next,
    below,
    one: <T>(from: readonly T[]): T => from[below(from.length)] as T,
    /** Characters of all planes, half surrogates too. */
    text: () =>
      Array.from({ length: below(12) }, () => String.fromCharCode(below(next() < 0.7 ? 128 : 65536))).join(''),
  };
}

const KNOBS = Object.keys(FIELDS);
/** Names of knobs, of what is looked at, of nothing, and those that objects have by themselves. */
export const NAMES: readonly string[] = [
  ...[...KNOBS, ...KNOBS, 'v', 'update', 'rollout', 'turn', 'token', 'channel', 'hide', 'hide'],
  ...['__proto__', 'constructor', 'toString', 'hasOwnProperty', 'valueOf', 'prototype', 'length', 'name'],
  ...['', ' seed', 'Seed', 'sееd', 'seed\u200b', '\u202eseed', '💥', 'V', 'x'.repeat(3000)],
];
const ODD = [
  ...[
    '',
    ' ',
    '0x10',
    '0b11',
    '0o17',
    '1_000',
    '1,5',
    '٣',
    '５',
    'NaN',
    'Infinity',
    '-Infinity',
    '1e400',
    '-1e400',
    '1e-400',
    '--1',
    '+5',
  ],
  ...[
    '-0',
    '0.1e',
    '.',
    '5.',
    '.5',
    '1e9',
    '1E3',
    '007',
    ' 7',
    '7 ',
    '7\n',
    '0.30000000000000001',
    '9007199254740993',
    'null',
    'undefined',
    'true',
  ],
  ...[
    '__proto__',
    'constructor',
    'on',
    'off',
    'ON',
    'auto',
    'grpo',
    'number-hunt',
    '[object Object]',
    '${1}',
    '%',
    '%zz',
    '%00',
    '\u0000',
    '\u202e',
    '<b>',
  ],
  ...[
    'curves',
    'curves,reward',
    'curves,,x',
    'mask',
    'advantage',
    '5',
    '12',
    '1000000',
    '1000001',
    '2',
    '1',
    '9'.repeat(400),
  ],
];

/** A value nobody should be given, mixed with some that fit the knob of this name. */
export function hostileValue(draw: ReturnType<typeof draws>, name: string): string {
  const field: Field | null = isFieldName(name) ? FIELDS[name] : null;
  const kind = draw.below(6);
  if (field && kind < 2) {
    if ('choices' in field) return draw.one(field.choices);
    const value = field.min + draw.next() * (field.max - field.min);
    return String(kind === 0 ? DEFAULTS[name as keyof typeof DEFAULTS] : field.integer ? Math.round(value) : value);
  }
  if (field && kind === 2 && !('choices' in field)) {
    const out = [
      field.min - 1,
      field.max + 1,
      field.min - 1e-9,
      field.max * 1.0001,
      -field.max,
      field.min + 0.5,
      1e300,
      -1e300,
    ];
    return String(draw.one(out));
  }
  if (kind === 3) return draw.text();
  if (kind === 4) return String((draw.next() - 0.5) * 10 ** draw.below(40));
  return draw.one(ODD);
}
