import { WebSocket } from 'ws';
import { MOST_MESSAGE } from '../openenv/serverMessages.ts';
import type { SocketPlace } from '../openenv/serverConnection.ts';

/** Sockets of Node, for a server that plays the environment. */
export const NODE_SOCKETS: SocketPlace = {
  connect: (url) => new WebSocket(url, { maxPayload: 4 * MOST_MESSAGE, followRedirects: false }),
  after: (ms, ring) => {
    const timer = setTimeout(ring, ms);
    return () => clearTimeout(timer);
  },
};
