import type { EnvironmentFile } from '../domain/environmentFile.ts';
import type { Host } from '../session/host.ts';
import { virtualMachine } from './virtualMachine.ts';

/** How a session opens the environment that a person wrote; what reads and runs it is only loaded then. */
export function writtenFile(file: EnvironmentFile): Pick<Required<Host>, 'ownEnvironment'> {
  return {
    ownEnvironment: async (chatTokenizer) => {
      const [{ openWritten }, wasm] = await Promise.all([import('../written/openWritten.ts'), virtualMachine()]);
      return openWritten(file, wasm).environment(chatTokenizer);
    },
  };
}
