import type { EnvironmentFile } from '../domain/environmentFile.ts';
import { isServerAddress } from '../domain/serverAddress.ts';
import type { Host } from '../session/host.ts';
import { PAGE_RUNTIMES } from './pageRuntimes.ts';
import { PAGE_SOCKETS } from './pageSockets.ts';

/** How a session opens the environment that a person wrote, or the server that they named; what reads and runs it is only loaded then. */
export function writtenFile(file: EnvironmentFile): Pick<Required<Host>, 'ownEnvironment'> {
  return {
    ownEnvironment: async (speaking) => {
      if (isServerAddress(file.text)) {
        const { openServer } = await import('../openenv/openServer.ts');
        return openServer(file.text, PAGE_SOCKETS).environment(speaking);
      }
      const { openWritten } = await import('../written/openWritten.ts');
      return openWritten(file, PAGE_RUNTIMES).environment(speaking);
    },
  };
}
