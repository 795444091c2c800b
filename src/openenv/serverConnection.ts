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
export interface SocketHost {
  readonly connect: (url: string) => OpenSocket;
  /** Calls `ring` once, after this many milliseconds. Returns a function that cancels it. */
  readonly setTimer: (ms: number, ring: () => void) => () => void;
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
  readonly #setTimer: SocketHost['setTimer'];
  #queued: ServerMessage | null = null; // the first message, until the socket is open
  #isConnected = false;
  #pending: { readonly resolve: (reply: ServerReply) => void; readonly reject: (why: Error) => void } | null = null;
  #endError: Error | null = null;
  /** An error that the server sent without being asked, as a full server does. */
  #unsolicitedError: ServerReply | null = null;

  /** `onEnded` is called once the connection is closed. */
  constructor(
    place: SocketHost,
    { url, seconds }: { readonly url: string; readonly seconds: number },
    onEnded: (connection: ServerConnection) => void = () => undefined,
  ) {
    this.#seconds = seconds;
    this.#setTimer = place.setTimer;
    this.#socket = place.connect(url);
    this.#socket.addEventListener('open', () => {
      this.#isConnected = true;
      if (this.#queued) this.#send(this.#queued);
      this.#queued = null;
    });
    this.#socket.addEventListener('message', ({ data }) => this.#onMessage(data));
    const onClose = () => {
      this.#end(new ConnectionLostError('No server answers, or it ended the connection.'));
      onEnded(this);
    };
    this.#socket.addEventListener('error', onClose);
    this.#socket.addEventListener('close', onClose);
  }

  get isOpen(): boolean {
    return this.#endError === null;
  }

  /**
   * Sends a message and waits for its answer. Throws EnvironmentServerError, ConnectionLostError if there is no
   * connection.
   */
  async ask(message: Exclude<ServerMessage, { type: 'close' }>): Promise<ServerReply> {
    if (this.#pending) throw new Error('ServerConnection.ask: another message is still waiting for its answer.');
    const reply = new Promise<ServerReply>((resolve, reject) => (this.#pending = { resolve, reject }));
    const cancelTimeout = this.#setTimer(1000 * this.#seconds, () =>
      this.#end(
        new EnvironmentServerError(
          `The server didn’t answer within ${this.#seconds} s. If it’s slow, allow more: add ?seconds=${Math.min(600, 4 * this.#seconds)} to its address.`,
        ),
      ),
    );
    if (this.#unsolicitedError) this.#settle(this.#unsolicitedError, null);
    else if (this.#endError) this.#settle(null, this.#endError);
    else if (this.#isConnected) this.#send(message);
    else this.#queued = message;
    try {
      return await reply;
    } finally {
      cancelTimeout();
    }
  }

  /** Ends the session. If a message waits for its answer, `ask` throws. */
  close(): void {
    if (this.#endError) return;
    if (this.#isConnected) this.#send({ type: 'close' });
    this.#end(new ConnectionLostError('The connection was closed.'));
  }

  #send(message: ServerMessage): void {
    this.#socket.send(JSON.stringify(message));
  }

  #onMessage(data: unknown): void {
    if (this.#endError) return;
    try {
      const reply = readReply(data);
      if (this.#pending) this.#settle(reply, null);
      else if (reply.kind === 'error') this.#unsolicitedError = reply;
    } catch (error) {
      this.#end(error instanceof Error ? error : new Error(String(error)));
    }
  }

  #settle(reply: ServerReply | null, why: Error | null): void {
    const waiting = this.#pending;
    this.#pending = null;
    if (reply) waiting?.resolve(reply);
    else waiting?.reject(why ?? new Error('ended'));
  }

  #end(why: Error): void {
    if (this.#endError) return;
    this.#endError = why;
    this.#settle(null, why);
    this.#socket.close();
  }
}
