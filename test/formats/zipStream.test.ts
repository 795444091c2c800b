import { expect, it } from 'vitest';
import type { StreamedFile } from '../../src/formats/byteSource.ts';
import { filesOfZip } from '../../src/formats/zip.ts';
import { zipStream } from '../../src/formats/zipStream.ts';
import { wholeOf } from '../adapters/made.ts';

const inPieces = (name: string, pieces: readonly string[], said?: number): StreamedFile => {
  const bytes = pieces.map((piece) => new TextEncoder().encode(piece));
  return {
    name,
    bytes: said ?? bytes.reduce((sum, { length }) => sum + length, 0),
    pieces: async function* () {
      for (const piece of bytes) yield await Promise.resolve(piece);
    },
  };
};

it('comes back file by file, each with the checksum of all its pieces, and is as long as it says', async () => {
  const files = [inPieces('config.json', ['{"a":', ' 1}']), inPieces('ünten/leer', []), inPieces('b', ['x', 'y', 'z'])];
  const zip = await wholeOf(zipStream('model.zip', files)); // throws where it is not as long as it says
  const found = filesOfZip('model.zip', zip); // throws where a checksum is another
  const texts = Array.from(found, ([name, bytes]) => [name, new TextDecoder().decode(bytes)]);
  expect(texts).toEqual([
    ['config.json', '{"a": 1}'],
    ['ünten/leer', ''],
    ['b', 'xyz'],
  ]);
});

it('refuses what 32 bits cannot say before anything is made, and a file that is not as long as it says', async () => {
  expect(() => zipStream('model.zip', [inPieces('big', [], 2 ** 32)])).toThrow(/model\.zip.* found 4294967\d+ bytes/);
  await expect(wholeOf(zipStream('model.zip', [inPieces('short', ['abc'], 4)]))).rejects.toThrow(
    /short: it gave 3 bytes, but declared 4/,
  );
});
