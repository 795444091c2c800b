import { EnvironmentServerError } from '../domain/serverAddress.ts';
import { readReply, type ServerMessage, type ServerReply } from './serverMessages.ts';

/** A WebSocket, of a browser or of Node. */
export interface OpenSocket {
  send(text: string): void;
  close(): void;
  addEventListener(type: 'open' | 'close' | 'error', listener: () => void): void;
  addEventListener(type: 'message', listener: (event: { readonly data: unknown }) => void): void;
}

/** The functions of the host that make sockets and timers. */
export interface SocketPlace {
  readonly connect: (url: string) => OpenSocket;
  /** Calls `ring` once, after this many milliseconds. Returns a function that cancels it. */
  readonly after: (ms: number, ring: () => void) => () => void;
}

/** Thrown if the connection was lost or could not be made. It has its own class, because a later try may succeed. */
export class ConnectionLostError extends EnvironmentServerError {}

/**
 * One session of an OpenEnv server, for one episode at a time. The server has to answer each message within a time
 * limit before the next is sent. After an error the connection is closed.
 */
export class ServerConnection {
  readonly #socket: OpenSocket;
  readonly #seconds: number;
  readonly #after: SocketPlace['after'];
  #first: ServerMessage | null = null; // waits until the socket is open
  #isConnected = false;
  #waiting: { readonly resolve: (reply: ServerReply) => void; readonly reject: (why: Error) => void } | null = null;
  #ended: Error | null = null;
  #unasked: ServerReply | null = null; // an error that the server sent without being asked, as a full server does

  /** `ended` is called once the connection is closed. */
  constructor(
    place: SocketPlace,
    { url, seconds }: { readonly url: string; readonly seconds: number },
    ended: (connection: ServerConnection) => void = () => undefined,
  ) {
    this.#seconds = seconds;
    this.#after = place.after;
    this.#socket = place.connect(url);
    this.#socket.addEventListener('open', () => {
      this.#isConnected = true;
      if (this.#first) this.#send(this.#first);
      this.#first = null;
    });
    this.#socket.addEventListener('message', ({ data }) => this.#hear(data));
    const onClose = () => {
      this.#end(new ConnectionLostError('No server answers, or it ended the connection.'));
      ended(this);
    };
    this.#socket.addEventListener('error', onClose);
    this.#socket.addEventListener('close', onClose);
  }

  get isOpen(): boolean {
    return this.#ended === null;
  }

  /**
   * Sends a message and waits for its answer. Throws EnvironmentServerError, ConnectionLostError if there is no
   * connection.
   */
  async ask(message: Exclude<ServerMessage, { type: 'close' }>): Promise<ServerReply> {
    if (this.#waiting) throw new Error('ServerConnection.ask: another message is still waiting for its answer.');
    const reply = new Promise<ServerReply>((resolve, reject) => (this.#waiting = { resolve, reject }));
    const cancelTimeout = this.#after(1000 * this.#seconds, () =>
      this.#end(
        new EnvironmentServerError(
          `The server didn’t answer within ${this.#seconds} s. If it’s slow, allow more: add ?seconds=${Math.min(600, 4 * this.#seconds)} to its address.`,
        ),
      ),
    );
    if (this.#unasked) this.#settle(this.#unasked, null);
    else if (this.#ended) this.#settle(null, this.#ended);
    else if (this.#isConnected) this.#send(message);
    else this.#first = message;
    try {
      return await reply;
    } finally {
      cancelTimeout();
    }
  }

  /** Ends the session. If a message waits for its answer, `ask` throws. */
  close(): void {
    if (this.#ended) return;
    if (this.#isConnected) this.#send({ type: 'close' });
    this.#end(new ConnectionLostError('The connection was closed.'));
  }

  #send(message: ServerMessage): void {
    this.#socket.send(JSON.stringify(message));
  }

  #hear(data: unknown): void {
    if (this.#ended) return;
    try {
      const reply = readReply(data);
      if (this.#waiting) this.#settle(reply, null);
      else if (reply.kind === 'error') this.#unasked = reply;
    } catch (error) {
      this.#end(error instanceof Error ? error : new Error(String(error)));
    }
  }

  #settle(reply: ServerReply | null, why: Error | null): void {
    const waiting = this.#waiting;
    this.#waiting = null;
    if (reply) waiting?.resolve(reply);
    else waiting?.reject(why ?? new Error('ended'));
  }

  #end(why: Error): void {
    if (this.#ended) return;
    this.#ended = why;
    this.#settle(null, why);
    this.#socket.close();
  }
}
