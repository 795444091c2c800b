import type { SocketPlace } from '../openenv/serverConnection.ts';

/** Sockets of the browser, for a server that plays the environment. The page's policy lets them reach this machine only. */
export const PAGE_SOCKETS: SocketPlace = {
  connect: (url) => new WebSocket(url),
  after: (ms, ring) => {
    const timer = setTimeout(ring, ms);
    return () => clearTimeout(timer);
  },
};
