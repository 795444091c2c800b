import { readFile } from 'node:fs/promises';
import { openDawn } from '../../tools/dawn.ts';
import { openGpuPolicy } from '../model/gpuPolicy.ts';
import type { Host } from '../session.ts';

/** Where warm-start weights lie, seen from the project's folder. */
export const WARM_FOLDER = 'public/warm';

/** Node as the place of a session; `withGpu` false leaves Dawn alone. */
export async function nodeHost(withGpu: boolean): Promise<Host> {
  const gpu = withGpu ? await openDawn() : undefined;
  return {
    gpu,
    openGpuPolicy,
    shippedWeights: async (file) => {
      try {
        const { buffer, byteOffset, byteLength } = await readFile(`${WARM_FOLDER}/${file}`);
        return buffer.slice(byteOffset, byteOffset + byteLength);
      } catch {
        return null;
      }
    },
    now: () => performance.now(),
    breathe: () => new Promise((resolve) => setImmediate(resolve)),
  };
}
