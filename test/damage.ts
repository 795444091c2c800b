import fc from 'fast-check';

/** What happens to the bytes of a file. As data, so that a test that fails prints the damage and not the file. */
export type Damage =
  | { readonly cut: number } // all from here on
  | { readonly flip: readonly (readonly [place: number, bit: number])[] }
  | { readonly put: readonly (readonly [place: number, byte: number])[] }
  | { readonly copy: readonly [to: number, from: number, end: number] }
  | { readonly fill: readonly [byte: number, from: number, end: number] };

const DAMAGED = {
  cut: (length: number) => fc.record({ cut: fc.nat(length - 1) }),
  flip: (_: number, within: number) =>
    fc.record({ flip: fc.array(fc.tuple(fc.nat(within - 1), fc.nat(7)), { minLength: 1, maxLength: 4 }) }),
  put: (_: number, within: number) =>
    fc.record({ put: fc.array(fc.tuple(fc.nat(within - 1), fc.nat(255)), { minLength: 1, maxLength: 3 }) }),
  copy: (_: number, within: number) => {
    const place = fc.nat(within - 1);
    return fc.record({ copy: fc.tuple(place, place, place) });
  },
  fill: (_: number, within: number) => {
    const place = fc.nat(within - 1);
    return fc.record({ fill: fc.tuple(fc.constantFrom(0, 255), place, place) });
  },
} as const;

/** Damage of the kinds to so many bytes; all but a cut is to the first of them. A kind that is named twice comes twice as often. */
export function damage(
  { length }: Uint8Array,
  kinds: readonly (keyof typeof DAMAGED)[],
  within = length,
): fc.Arbitrary<Damage> {
  return fc.oneof(...kinds.map((kind): fc.Arbitrary<Damage> => DAMAGED[kind](length, within)));
}

/** A place in a text, and what stands there instead of so many letters. */
export type Replaced = readonly [at: number, letters: number, piece: string];

/** A copy of the bytes after the damage, or of a text’s after the replacement. */
export function damaged(bytes: Uint8Array, what: Damage | Replaced): Uint8Array<ArrayBuffer> {
  if ('length' in what) return new TextEncoder().encode(replaced(new TextDecoder().decode(bytes), what));
  if ('cut' in what) return Uint8Array.from(bytes.subarray(0, what.cut));
  const copy = Uint8Array.from(bytes);
  if ('flip' in what) for (const [place, bit] of what.flip) copy[place]! ^= 1 << bit;
  if ('put' in what) for (const [place, byte] of what.put) copy[place] = byte;
  if ('copy' in what) copy.copyWithin(...what.copy);
  if ('fill' in what) copy.fill(...what.fill);
  return copy;
}

/** One of the pieces put into a text, in place of up to so many letters. */
export function replacement(text: string, pieces: readonly string[], most: number): fc.Arbitrary<Replaced> {
  return fc.tuple(fc.nat(text.length - 1), fc.nat(most), fc.constantFrom(...pieces));
}

/** The text after the replacement. */
export function replaced(text: string, [at, letters, piece]: Replaced): string {
  return text.slice(0, at) + piece + text.slice(at + letters);
}

// prettier-ignore
const ODD = [
  '0', '-1', '1e9', '0.5', 'null', '"x"', '[]', '{}', '18446744073709551616', 'true', '""', '-0', '1e999', '{"a":1,"a":2}',
  '"__proto__"', '"constructor"', '',
];

/** One number, text or mark of a JSON text replaced by an odd one, by another of the same text, written twice, or left out. */
export function jsonReplacement(json: string): fc.Arbitrary<Replaced> {
  const tokens = [...json.matchAll(/-?\d[\d.e+-]*|"[^"\\]*"|true|false|null|[,:{}[\]]/g)];
  const texts = fc.constantFrom(...tokens.map(([text]) => text));
  return fc
    .tuple(
      fc.constantFrom(...tokens),
      fc.oneof({ weight: ODD.length, arbitrary: fc.constantFrom(...ODD) }, texts, fc.constant(null)),
    )
    .map(([{ 0: text, index }, other]) => [index, text.length, other ?? text + text] as const);
}
