import type { EnvironmentFile } from '../domain/environmentFile.ts';
import { isServerAddress } from '../domain/serverAddress.ts';
import type { Host } from '../session/host.ts';
import { PAGE_RUNTIMES } from './pageRuntimes.ts';
import type { SocketPlace } from '../openenv/serverConnection.ts';

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

/** Sockets of the browser, for a server that plays the environment. The page's policy lets them reach this machine only. */
const PAGE_SOCKETS: SocketPlace = {
  connect: (url) => new WebSocket(url),
  after: (ms, ring) => {
    const timer = setTimeout(ring, ms);
    return () => clearTimeout(timer);
  },
};
