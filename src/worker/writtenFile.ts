import type { EnvironmentFile } from '../domain/environmentFile.ts';
import type { Host } from '../session/host.ts';
import machineAddress from 'quickjs-wasi/quickjs.wasm?url';

let machine: Promise<ArrayBuffer> | null = null;

/** QuickJS, as bytes; it is loaded when it is first asked for. Throws Error where it cannot be. */
function quickjs(): Promise<ArrayBuffer> {
  machine ??= fetched().catch((error: unknown) => {
    machine = null; // to be tried again
    throw error;
  });
  return machine;
}

async function fetched(): Promise<ArrayBuffer> {
  const response = await fetch(machineAddress);
  if (!response.ok) throw new Error(`The sandbox for environments could not be loaded (${response.status}).`);
  return response.arrayBuffer();
}

/** How a session opens the environment that a person wrote; what reads and runs it is only loaded then. */
export function writtenFile(file: EnvironmentFile): Pick<Required<Host>, 'ownEnvironment'> {
  return {
    ownEnvironment: async (chatTokenizer) => {
      const [{ openWritten }, wasm] = await Promise.all([import('../written/openWritten.ts'), quickjs()]);
      return openWritten(file, wasm).environment(chatTokenizer);
    },
  };
}
