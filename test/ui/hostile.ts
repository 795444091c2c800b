import fc from 'fast-check';
import { DEFAULTS, FIELDS, type Field, isFieldName } from '../../src/config/fields.ts';

/** Characters of all planes, half surrogates too. */
export const TEXT: fc.Arbitrary<string> = fc
  .array(fc.oneof({ weight: 7, arbitrary: fc.nat(127) }, { weight: 3, arbitrary: fc.nat(65535) }), { maxLength: 11 })
  .map((codes) => String.fromCharCode(...codes));

const KNOBS = Object.keys(FIELDS);
/** Names of knobs, of what is looked at, of nothing, and those that objects have by themselves. */
const NAMES: readonly string[] = [
  ...[...KNOBS, ...KNOBS, 'v', 'update', 'rollout', 'turn', 'token', 'channel', 'hide', 'hide'],
  ...['__proto__', 'constructor', 'toString', 'hasOwnProperty', 'valueOf', 'prototype', 'length', 'name'],
  ...['', ' seed', 'Seed', 'sееd', 'seed\u200b', '\u202eseed', '💥', 'V', 'x'.repeat(3000)],
];
// prettier-ignore
const ODD = [
  '', ' ', '0x10', '0b11', '0o17', '1_000', '1,5', '٣', '５', 'NaN', 'Infinity', '-Infinity', '1e400', '-1e400', '1e-400', '--1', '+5',
  '-0', '0.1e', '.', '5.', '.5', '1e9', '1E3', '007', ' 7', '7 ', '7\n', '0.30000000000000001', '9007199254740993', 'null', 'undefined',
  'true', '__proto__', 'constructor', 'on', 'off', 'ON', 'auto', 'grpo', 'number-hunt', '[object Object]', '${1}', '%', '%zz', '%00',
  '\u0000', '\u202e', '<b>', 'curves', 'curves,reward', 'curves,,x', 'mask', 'advantage', '5', '12', '1000000', '1000001', '2', '1',
  '9'.repeat(400),
];

const FREE = [
  TEXT,
  fc.tuple(fc.double({ min: -0.5, max: 0.5, noNaN: true }), fc.nat(39)).map(([x, power]) => String(x * 10 ** power)),
  fc.constantFrom(...ODD),
];

/** A value nobody should be given, mixed with some that fit the knob of this name. */
export function hostileValue(name: string): fc.Arbitrary<string> {
  if (!isFieldName(name)) return fc.oneof(...FREE);
  const field: Field = FIELDS[name];
  if ('choices' in field) return fc.oneof({ weight: 2, arbitrary: fc.constantFrom(...field.choices) }, ...FREE);
  const { min, max } = field;
  const outside = [min - 1, max + 1, min - 1e-9, max * 1.0001, -max, min + 0.5, 1e300, -1e300];
  const inside = field.integer ? fc.integer({ min, max }) : fc.double({ min, max, noNaN: true });
  return fc.oneof(
    fc.constant(DEFAULTS[name]).map(String),
    inside.map(String),
    fc.constantFrom(...outside).map(String),
    ...FREE,
  );
}

const PAIRS = NAMES.map((name) => hostileValue(name).map((value) => [name, value] as const));
/** A name, and a value for it. */
export const PAIR: fc.Arbitrary<readonly [name: string, value: string]> = fc
  .nat(PAIRS.length - 1)
  .chain((at) => PAIRS[at] ?? fc.constant(['', '']));
