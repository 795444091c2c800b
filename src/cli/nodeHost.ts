import { readFile } from 'node:fs/promises';
import { openDawn } from '../../tools/dawn.ts';
import { chooseBackend } from '../model/chooseBackend.ts';
import { openGpuPolicy } from '../model/gpuPolicy.ts';
import type { Host } from '../session/host.ts';
import { fileError } from './files.ts';
import { nodeThreads } from './nodeThreads.ts';

/** What the page ships beside its code, seen from the project's folder. */
export const PUBLIC_FOLDER = 'public';
/** Where warm-start weights lie, seen from the project's folder. */
export const WARM_FOLDER = `${PUBLIC_FOLDER}/warm`;

/** Node as the place of a session; `withGpu` false leaves Dawn alone. */
export async function nodeHost(withGpu: boolean): Promise<Host> {
  const gpu = withGpu ? await openDawn() : undefined;
  return {
    gpu,
    openGpuPolicy,
    chooseBackend: (adapters, spec, threads) =>
      chooseBackend(
        adapters,
        spec,
        {
          now: () => performance.now(),
          wait: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
        },
        threads,
      ),
    threads: nodeThreads(),
    shippedFile: async (path) => {
      try {
        const { buffer, byteOffset, byteLength } = await readFile(`${PUBLIC_FOLDER}/${path}`);
        return buffer.slice(byteOffset, byteOffset + byteLength);
      } catch (error) {
        if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return null;
        throw fileError(`${PUBLIC_FOLDER}/${path}`, 'read', error);
      }
    },
    now: () => performance.now(),
    yieldToEvents: () => new Promise((resolve) => setImmediate(resolve)),
  };
}
