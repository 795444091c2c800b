import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { textModelFiles } from '../../src/checkpoints/textModelFiles.ts';
import { initialWeights } from '../../src/model/architecture.ts';
import { SMALL } from '../gpu/policies.ts';
import { BYTES, BYTES_FILES } from '../text/bytesTokenizer.ts';

const model = { ...SMALL, vocab_size: BYTES.codec.size };
const decode = (bytes: Uint8Array | undefined) => new TextDecoder().decode(bytes);

/** The types of the tensors in a safetensors file, by what its own header says. */
function typesIn(bytes: Uint8Array): ReadonlySet<unknown> {
  const length = new DataView(bytes.buffer, bytes.byteOffset).getUint32(0, true);
  const header = JSON.parse(decode(bytes.subarray(8, 8 + length))) as Record<string, { dtype?: string }>;
  return new Set(Object.values(header).flatMap(({ dtype }) => dtype ?? []));
}

test('config.json of a text model says the type that its weights have, in both of the names for it; so does the shipped one’s', async () => {
  const made = textModelFiles(model, initialWeights(model, 3), BYTES_FILES, '');
  const shipped = (name: string) => readFile(new URL(`../../public/models/agent/${name}`, import.meta.url));
  const files: readonly (readonly [string, Uint8Array])[] = [
    [decode(made.get('config.json')), made.get('model.safetensors') ?? new Uint8Array()],
    [decode(await shipped('config.json')), await shipped('model.safetensors')],
  ];
  for (const [config, weights] of files) {
    expect(typesIn(weights)).toEqual(new Set(['F16']));
    expect(JSON.parse(config)).toMatchObject({ torch_dtype: 'float16', dtype: 'float16' });
  }
});
