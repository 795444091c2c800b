import { WebSocket } from 'ws';
import { MAX_MESSAGE_LENGTH } from '../openenv/serverMessages.ts';
import type { SocketHost } from '../openenv/serverConnection.ts';

/** WebSockets and timers of Node, to connect to a server that plays the environment. */
export const NODE_SOCKETS: SocketHost = {
  connect: (url) => new WebSocket(url, { maxPayload: 4 * MAX_MESSAGE_LENGTH, followRedirects: false }),
  setTimer: (ms, ring) => {
    const timer = setTimeout(ring, ms);
    return () => clearTimeout(timer);
  },
};
