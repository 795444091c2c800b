import type { AddressInfo } from 'node:net';
import { type WebSocket, WebSocketServer } from 'ws';

type Json = Readonly<Record<string, unknown>>;

/** What a server does in place of answering rightly. */
export interface Mischief {
  readonly sessions?: number; // how many there can be
  /** What it says in place of its answer; null: nothing at all. Without a value it answers rightly. */
  readonly instead?: (message: { readonly type: string; readonly data: Json }) => string | Buffer | null | undefined;
  readonly tools?: readonly unknown[];
}

/** A server that speaks OpenEnv's messages: an agent is told a number and adds one to it by a tool, in at most three turns. */
export interface OpenenvServer {
  readonly address: string;
  readonly port: number;
  readonly resets: readonly Json[]; // data of all resets
  readonly steps: readonly Json[];
  readonly open: number; // sessions now
  readonly connections: number; // so far
  mischief: Mischief;
  /** Ends it as a crash would: no session is closed properly. */
  readonly kill: () => Promise<void>;
}

const TOOLS = [
  {
    name: 'add',
    description: 'Adds two numbers.',
    input_schema: {
      type: 'object',
      properties: {
        a: { type: 'integer', description: 'first' },
        b: { anyOf: [{ type: 'integer' }, { type: 'null' }] },
        extra: { type: 'object', default: {} },
      },
      required: ['a', 'b'],
    },
  },
  { name: 'answer', description: 'Ends the episode.', input_schema: { properties: { text: { type: 'string' } }, required: ['text'] } }, // prettier-ignore
];

/** Starts one, on a free port unless told which. */
export async function openenvServer(mischief: Mischief = {}, port = 0): Promise<OpenenvServer> {
  const server = new WebSocketServer({ host: '127.0.0.1', port, path: '/ws' });
  await new Promise<void>((resolve, reject) => server.once('listening', resolve).once('error', reject));
  const resets: Json[] = [];
  const steps: Json[] = [];
  let connections = 0;
  const made = {
    address: `ws://127.0.0.1:${(server.address() as AddressInfo).port}/ws`,
    port: (server.address() as AddressInfo).port,
    ...{ resets, steps, mischief },
    get open() {
      return server.clients.size;
    },
    get connections() {
      return connections;
    },
    kill: async () => {
      for (const client of server.clients) client.terminate();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  server.on('connection', (socket) => {
    connections++;
    const { sessions } = made.mischief;
    if (sessions !== undefined && server.clients.size > sessions) {
      say(socket, 'error', { message: 'Server at capacity', code: 'CAPACITY_REACHED', active_sessions: sessions, max_sessions: sessions }); // prettier-ignore
      socket.close();
      return;
    }
    let number = 0;
    socket.on('message', (bytes: Buffer) => {
      const message = JSON.parse(bytes.toString()) as { type: string; data: Json };
      const instead = made.mischief.instead?.(message);
      if (message.type === 'close') socket.close();
      else if (instead !== undefined) {
        if (instead !== null) socket.send(instead);
      } else if (message.type === 'reset') {
        resets.push(message.data);
        const { seed, split, index } = message.data;
        number = Number(index ?? seed) % 50;
        said(socket, { text: `${String(split)}: what is ${number} + 1?` });
      } else if (message.data['type'] === 'list_tools') said(socket, { tools: made.mischief.tools ?? TOOLS });
      else {
        steps.push(message.data);
        const { tool_name: tool, arguments: given } = message.data as {
          tool_name: string;
          arguments: Record<string, number>;
        };
        if (tool === 'answer') said(socket, { text: '' }, { done: true, reward: String(given['text']) === String(number + 1) ? 1 : 0 }); // prettier-ignore
        else if (given['a'] === 13) say(socket, 'error', { message: TRACE, code: 'EXECUTION_ERROR' });
        else said(socket, { tool_name: tool, result: { content: [{ type: 'text', text: String((given['a'] ?? 0) + (given['b'] ?? 0)) }] }, error: null }, { reward: 0.25 }); // prettier-ignore
      }
    });
  });
  return made;
}

const TRACE = 'Traceback (most recent call last):\n  File "/srv/app/server.py", line 3, in step\n    raise ValueError("thirteen")\nValueError: thirteen'; // prettier-ignore

function said(
  socket: WebSocket,
  observation: Json,
  { done = false, reward = null }: { readonly done?: boolean; readonly reward?: number | null } = {},
): void {
  // prettier-ignore
  say(socket, 'observation', { observation: { ...observation, metadata: {} }, reward, done });
}

function say(socket: WebSocket, type: string, data: Json): void {
  socket.send(JSON.stringify({ type, data }));
}
