import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { openDawn } from '../../tools/dawn.ts';
import { chooseBackend } from '../session/chooseBackend.ts';
import { openGpuPolicy } from '../model/gpu/gpuPolicy.ts';
import type { Host } from '../session/host.ts';
import { fileError } from './files.ts';
import { nodeThreads } from './nodeThreads.ts';

/** The folder of the files that the page ships beside its code, relative to the project's folder; in the npm package, that of the page. */
export const PUBLIC_FOLDER = existsSync('public') ? 'public' : 'dist';
/** The folder of the shipped warm-start weights, relative to the project's folder. */
export const WARM_FOLDER = `${PUBLIC_FOLDER}/warm`;

/** Node as the host of a session. Without `withGpu`, Dawn (WebGPU for Node) isn't loaded. */
export async function nodeHost(withGpu: boolean): Promise<Host> {
  const gpu = withGpu ? await openDawn() : undefined;
  return {
    gpu,
    openGpuPolicy,
    chooseBackend,
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
