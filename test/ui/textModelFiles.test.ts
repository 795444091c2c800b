import { expect, test, vi } from 'vitest';
import { isTextModel } from '../../src/page/models/openModel.ts';

const MIB = 2 ** 20;
const placed = (path: string, text: string) => ({ path, file: new File([text], path.replace(/.*\//, '')) });
const tokenizer = (blanks: number) => placed('m/tokenizer.json', `{${' '.repeat(blanks)}"model": {"type": "BPE"}}`);

test('a folder with a BPE tokenizer is a text model, wherever in tokenizer.json that is said', async () => {
  // the words lie before, on and behind the border of two slices
  for (const blanks of [0, MIB - 20, MIB - 10, MIB + 1]) expect(await isTextModel([tokenizer(blanks)])).toBe(true);
  expect(await isTextModel([placed('m/tokenizer.json', `${' '.repeat(MIB)}{"type": "WordLevel"}`)])).toBe(false);
  expect(await isTextModel([tokenizer(0), placed('m/playground.json', '{}')])).toBe(false);
});

test('of a tokenizer of 8 MiB no text of more than two MiB is made at once, and nothing behind the place is read', async () => {
  const texts: number[] = [];
  const read = vi.spyOn(Blob.prototype, 'text').mockImplementation(async function (this: Blob) {
    texts.push(this.size);
    return new TextDecoder().decode(await this.arrayBuffer());
  });
  const { path, file } = tokenizer(2 * MIB);
  await isTextModel([{ path, file: new File([file, ' '.repeat(6 * MIB)], 'tokenizer.json') }]);
  read.mockRestore();
  expect(texts).toHaveLength(2);
  expect(Math.max(...texts)).toBeLessThan(2 * MIB);
});
