import { readFile } from 'node:fs/promises';
import type { Host } from '../src/session/host.ts';
import { bareHost } from './bareHost.ts';

/** A host without a GPU that has the files which the page ships. */
export const shippingHost: Host = {
  ...bareHost,
  shippedFile: async (path) => {
    const { buffer, byteOffset, byteLength } = await readFile(new URL(`../public/${path}`, import.meta.url));
    return buffer.slice(byteOffset, byteOffset + byteLength);
  },
};
