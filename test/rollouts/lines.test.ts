import { expect, test } from 'vitest';
import { linesOf } from '../../src/formats/lines.ts';

test('lines and their places are the same whatever a chunk holds: across its edges, of letters of several bytes, without a last end', async () => {
  const text = 'one\r\n\n  zwölf  \n\n„drei“\nlast';
  const file = new Blob([text]);
  const read = async (chunkBytes: number) => {
    const found: (readonly [number, string, string, boolean])[] = [];
    for await (const lines of linesOf(file, chunkBytes)) {
      for (const { number, offset, length, bytes, hasLineEnd: ended } of lines) {
        const again = await file.slice(offset, offset + length).text();
        found.push([number, new TextDecoder().decode(bytes ?? undefined), again, ended]);
      }
    }
    return found;
  };
  for (const size of [1, 2, 3, 5, 7, 1000]) {
    expect(await read(size), `chunks of ${size}`).toEqual([
      [1, 'one', 'one\r', true],
      [3, 'zwölf', '  zwölf  ', true],
      [5, '„drei“', '„drei“', true],
      [6, 'last', 'last', false],
    ]);
  }
});
