import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { readAdvantages } from '../../src/cli/goldenAdvantages.ts';
import { parseGolden } from '../../src/cli/goldenFixture.ts';
import { Purpose, random } from '../../src/base/rng.ts';

const FIXTURE = new Uint8Array(readFileSync('test/golden/tiny-mha-tied.safetensors'));
const published = JSON.parse(readFileSync('test/golden/advantages.json', 'utf8')) as { cases: unknown[] };
const ADVANTAGES = JSON.stringify({ ...published, cases: published.cases.slice(0, 2) }); // reading all 10,000 times takes long
const HEADER = Number(new DataView(FIXTURE.buffer, FIXTURE.byteOffset).getBigUint64(0, true));
const header = new TextDecoder().decode(FIXTURE.subarray(8, 8 + HEADER));
const body = FIXTURE.subarray(8 + HEADER);

/** The fixture with its header changed. */
function withHeader(change: (text: string) => string): ArrayBuffer {
  const text = new TextEncoder().encode(change(header));
  const file = new Uint8Array(8 + text.length + body.length);
  new DataView(file.buffer).setBigUint64(0, BigInt(text.length), true);
  file.set(text, 8);
  file.set(body, 8 + text.length);
  return file.buffer;
}

// prettier-ignore
test.each<[string, (text: string) => string, RegExp]>([
  ['a model of endless layers', (h) => h.replace(/\\"num_hidden_layers\\": ?\d+/, '\\"num_hidden_layers\\": 65000'), /num_hidden_layers is 65000; want 64 at most/],
  ['no width', (h) => h.replace(/\\"hidden_size\\": ?\d+/, '\\"hidden_size\\": null'), /config\.hidden_size is null; want a whole number/],
  ['endless steps', (h) => h.replace(/"adamw_steps": ?"\d+"/, '"adamw_steps":"9999999"'), /adamw_steps is no whole number from 1 to 1000/],
  ['an aggregation nobody knows', (h) => h.replace('token-mean', 'token-mode'), /hyper\.loss_aggregation is none of token-mean/],
  ['a config that is no JSON', (h) => h.replace(/"config": ?"\{/, '"config":"['), /config is no JSON object/],
])('a fixture with %s is refused by its name', (_name, change, message) => {
  expect(change(header)).not.toBe(header);
  expect(() => parseGolden('x.safetensors', withHeader(change))).toThrow(message);
  expect(() => parseGolden('x.safetensors', withHeader(change))).toThrow(/^x\.safetensors: /);
});

test('of 10,000 damaged fixtures each is refused by its name, or holds finite inputs of its own shape', () => {
  const { int, next, pick } = random(31, Purpose.environment);
  let taken = 0;
  for (let i = 0; i < 10_000; i++) {
    const kind = int(5);
    let read: () => unknown;
    if (kind === 0) {
      const file = FIXTURE.slice(0, int(FIXTURE.length)); // cut off
      read = () => parseGolden('x', file.buffer);
    } else if (kind === 1) {
      const file = FIXTURE.slice();
      for (let flips = 1 + int(3); flips > 0; flips--)
        file[int(next() < 0.5 ? HEADER + 8 : file.length)]! ^= 1 << int(8);
      read = () => parseGolden('x', file.buffer);
    } else if (kind === 2) {
      const text = withHeader((h) => {
        const numbers = [...h.matchAll(/\d+/g)];
        const one = pick(numbers);
        const other = pick(['0', '-1', '1e9', '0.5', 'null', '"x"', '[]', '18446744073709551616', '4294967296']);
        return h.slice(0, one.index) + other + h.slice(one.index + one[0].length);
      });
      read = () => parseGolden('x', text);
    } else {
      const from = int(ADVANTAGES.length - 40);
      const odd = pick(['', 'null', '[', '}', '1e999', '-', '"', '[[]]', '{}', '2']);
      const text = ADVANTAGES.slice(0, from) + odd + ADVANTAGES.slice(from + int(kind === 3 ? 4 : 40));
      read = () => readAdvantages('x', text);
    }
    try {
      const got = read();
      if (kind <= 2) {
        const { record, given, model, rows, length, adamwSteps } = got as ReturnType<typeof parseGolden>;
        expect(record.tokens.length).toBe(rows * length);
        expect(record.tokens.every((id) => id >= 0 && id < model.vocab_size)).toBe(true);
        expect(
          Object.values(given as unknown as Record<string, Float32Array>).every(
            (table) => table.length === rows * length && table.every(Number.isFinite),
          ),
        ).toBe(true);
        expect(adamwSteps).toBeGreaterThan(0);
      }
      taken++;
    } catch (error) {
      if (!(error instanceof Error) || !/^x(?:: | is )[^\n]{10,}$/.test(error.message)) throw error;
    }
  }
  expect(taken).toBeGreaterThan(100); // flipped bits of weights; a run of the engine tells those
});
