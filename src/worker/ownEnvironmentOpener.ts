import type { EnvironmentFile } from '../domain/environmentFile.ts';
import { isServerAddress } from '../domain/serverAddress.ts';
import type { Host } from '../session/host.ts';
import { PAGE_RUNTIMES } from './pageRuntimes.ts';
import type { SocketHost } from '../openenv/serverConnection.ts';

/**
 * Returns the host function that opens the person's own environment, or the server that it names. The code for it is
 * only loaded then.
 */
export function ownEnvironmentOpener(file: EnvironmentFile): Pick<Required<Host>, 'ownEnvironment'> {
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

/**
 * The browser's sockets, for a server that plays the environment. The page's security policy only allows connections to
 * this machine.
 */
const PAGE_SOCKETS: SocketHost = {
  connect: (url) => new WebSocket(url),
  setTimer: (ms, ring) => {
    const timer = setTimeout(ring, ms);
    return () => clearTimeout(timer);
  },
};
