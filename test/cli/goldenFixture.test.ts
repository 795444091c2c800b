import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { readAdvantages } from '../../tools/golden/goldenAdvantages.ts';
import { parseGolden } from '../../tools/golden/goldenFixture.ts';
import { damage, damaged, replaced, replacement } from '../damage.ts';

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
  ['a model of endless layers', (h) => h.replace(/\\"num_hidden_layers\\": ?\d+/, '\\"num_hidden_layers\\": 65000'), /num_hidden_layers is 65000, and the limit is 64/],
  ['no width', (h) => h.replace(/\\"hidden_size\\": ?\d+/, '\\"hidden_size\\": null'), /config\.hidden_size is null and must be a whole number/],
  ['endless steps', (h) => h.replace(/"adamw_steps": ?"\d+"/, '"adamw_steps":"9999999"'), /adamw_steps isn’t a whole number from 1 to 1000/],
  ['an aggregation nobody knows', (h) => h.replace('token-mean', 'token-mode'), /hyper\.loss_aggregation isn’t one of token-mean/],
  ['a config that is no JSON', (h) => h.replace(/"config": ?"\{/, '"config":"['), /config isn’t a JSON object/],
])('a fixture with %s is refused by its name', (_name, change, message) => {
  expect(change(header)).not.toBe(header);
  expect(() => parseGolden('x.safetensors', withHeader(change))).toThrow(message);
  expect(() => parseGolden('x.safetensors', withHeader(change))).toThrow(/^x\.safetensors: /);
});

/** Reads; true where what was read is well formed, false where it was refused by its name. */
function reads(read: () => unknown): boolean {
  try {
    read();
    return true;
  } catch (error) {
    if (!(error instanceof Error) || !/^x(?:: | isn’t )[^\n]{10,}$/.test(error.message)) throw error;
    return false;
  }
}

test('of 600 damaged fixtures each is refused by its name, or holds finite inputs of its own shape', () => {
  const numbers = [...header.matchAll(/\d+/g)].map(({ 0: text, index }) => [index, text.length] as const);
  const odd = ['0', '-1', '1e9', '0.5', 'null', '"x"', '[]', '18446744073709551616', '4294967296'];
  const ofHeader = fc
    .tuple(fc.constantFrom(...numbers), fc.constantFrom(...odd))
    .map(([[at, letters], other]) => [at, letters, other] as const);
  const cases = fc.oneof(damage(FIXTURE, ['cut', 'flip']), damage(FIXTURE, ['flip'], HEADER + 8), ofHeader);
  let taken = 0;
  const judge = fc.property(cases, (what) => {
    const file = 'length' in what ? withHeader((text) => replaced(text, what)) : damaged(FIXTURE, what).buffer;
    const isRead = reads(() => {
      const { record, givenCredit, model, rows, length, adamwSteps } = parseGolden('x', file);
      expect(record.tokens.length).toBe(rows * length);
      expect(record.tokens.every((id) => id >= 0 && id < model.vocab_size)).toBe(true);
      for (const table of Object.values(givenCredit as unknown as Record<string, Float32Array>))
        expect(table.length === rows * length && table.every(Number.isFinite)).toBe(true);
      expect(adamwSteps).toBeGreaterThan(0);
    });
    if (isRead) taken++;
  });
  fc.assert(judge, { seed: 31, numRuns: 600 });
  expect(taken).toBeGreaterThan(10); // flipped bits of weights; a run of the engine tells those
});

test('of 400 damaged files of advantages each is read, or refused by its name', () => {
  const pieces = ['', 'null', '[', '}', '1e999', '-', '"', '[[]]', '{}', '2'];
  const changes = fc.oneof(replacement(ADVANTAGES, pieces, 3), replacement(ADVANTAGES, pieces, 39));
  let refused = 0;
  const judge = fc.property(changes, (change) => {
    if (!reads(() => readAdvantages('x', replaced(ADVANTAGES, change)))) refused++;
  });
  fc.assert(judge, { seed: 31, numRuns: 400 });
  expect(refused).toBeGreaterThan(100);
});
