import { expect, it } from 'vitest';
import { mergedSource } from '../src/model/mergedSource.ts';
import { adapterConfig } from '../src/model/adapterKnobs.ts';
import { readFloat32 } from '../src/model/weightSource.ts';
import { parseConfig } from '../src/config/config.ts';
import { PRESETS } from '../src/config/presets.ts';
import { bytesInMemory } from '../src/formats/byteSource.ts';
import { mergedFile } from '../src/speaking/mergedModel.ts';
import { openSession } from '../src/session/session.ts';
import { openBase } from '../src/speaking/textCheckpoint.ts';
import { drawnAdapters, wholeOf } from './adapters/made.ts';
import { text } from './formats/gguf.ts';
import { tinyGguf } from './speaking/tinyGguf.ts';
import { bareHost } from './bareHost.ts';

const config = parseConfig({
  ...PRESETS['smollm2-hunt'].set,
  prompts: 1,
  groupSize: 2,
  warmStart: 'none',
  maxTurns: 1,
});
const placed = (name: string, bytes: Uint8Array) => [{ path: name, source: bytesInMemory(name, bytes) }];

it('a run and its GGUF file become one GGUF file with the merged weights, in halves half as large; another file is refused', async () => {
  const files = placed('tiny.gguf', tinyGguf());
  const base = await openBase('tiny.gguf', files);
  const session = await openSession(config, bareHost, () => undefined, { openedBase: base });
  const adapters = adapterConfig(config);
  const weights = drawnAdapters(base.model, adapters, 3);
  session.policy.writeWeights(weights);
  const checkpoint = await session.checkpoint();
  session.dispose();
  const file = await mergedFile(checkpoint, 'tiny.gguf', files, 'F32');
  expect(file.name).toBe('tiny-trained-f32.gguf');
  const merged = await openBase('merged', placed('merged.gguf', await wholeOf(file)));
  const want = mergedSource(base.weights, base.model, adapters, weights);
  const name = 'model.layers.0.mlp.down_proj.weight';
  const found = await readFloat32(merged.weights.get(name)!);
  expect(found).toEqual(await readFloat32(want.get(name)!));
  expect(found).not.toEqual(await readFloat32(base.weights.get(name)!));
  const halves = await mergedFile(checkpoint, 'tiny.gguf', files, 'F16');
  expect(halves.bytes).toBeLessThan(0.6 * file.bytes); // its header and norms are no smaller
  const other = placed('tiny.gguf', tinyGguf({ 'general.name': text('Other') }));
  await expect(mergedFile(checkpoint, 'tiny.gguf', other, 'F32')).rejects.toThrow(
    /beside tiny\.gguf \(.*\)\. tiny\.gguf \(.* is another model/,
  );
});
