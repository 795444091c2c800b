import { Purpose, random } from '../../src/base/rng.ts';
import { type AdapterConfig, adapterParameters, LINEAR_NAMES } from '../../src/model/loraAdapters.ts';
import type { ModelConfig, Weights } from '../../src/model/architecture.ts';
import type { StreamedFile } from '../../src/formats/byteSource.ts';

/** Adapters beside all seven linears whose scale, 8/3, no float32 has. */
export const ADAPTERS: AdapterConfig = { rank: 3, alpha: 8, targets: LINEAR_NAMES };

/** Adapters that were trained: no tensor of them is 0. */
export function drawnAdapters(model: ModelConfig, adapters: AdapterConfig, seed: number): Weights {
  return new Map(
    adapterParameters(model, adapters).map(({ name, size }, index) => {
      const draw = random(seed, Purpose.weights, index);
      return [name, Float32Array.from({ length: size }, () => 0.3 * draw.normal())];
    }),
  );
}

/** All of a file that is made piece by piece. Throws where it is not as long as it says. */
export async function wholeOf({ name, bytes, pieces }: StreamedFile): Promise<Uint8Array> {
  const all = new Uint8Array(bytes);
  let at = 0;
  for await (const piece of pieces()) {
    all.set(piece, at);
    at += piece.length;
  }
  if (at !== bytes) throw new Error(`${name} has ${at} bytes and said ${bytes}.`);
  return all;
}
