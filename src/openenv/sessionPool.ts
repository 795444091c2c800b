import { EnvironmentServerError, type ServerAddress } from '../domain/serverAddress.ts';
import type { JsonRecord } from '../base/jsonRecord.ts';
import { ConnectionLostError, ServerConnection, type SocketHost } from './serverConnection.ts';
import type { ServerReply } from './serverMessages.ts';

/**
 * Waiting times before each retry to begin an episode, in ms. Their sum is about the time that a small server takes to
 * restart.
 */
const RETRY_WAITS_MS: readonly number[] = [250, 500, 1000, 2000, 4000];
/** Browsers allow about 200 sockets to one host. */
const MAX_SESSIONS = 200;

/** An episode that a server has begun, and the connection it is played on. */
export interface StartedEpisode {
  readonly connection: ServerConnection;
  readonly reply: Extract<ServerReply, { kind: 'observation' }>;
}

/**
 * The sessions of a server: one connection for each episode in progress. A connection is reused when its episode is
 * over.
 */
export class SessionPool {
  readonly #address: ServerAddress;
  readonly #host: SocketHost;
  readonly #open = new Set<ServerConnection>();
  readonly #idle = new Set<ServerConnection>();
  #closings = 0; // number of calls of `close`; a try that sees it change gives up

  constructor(address: ServerAddress, place: SocketHost) {
    this.#address = address;
    this.#host = place;
  }

  /** Takes an idle connection, or opens a new one. */
  connection(): ServerConnection {
    const [idle] = this.#idle;
    if (idle) this.#idle.delete(idle);
    if (idle?.isOpen) return idle;
    const { url, options } = this.#address;
    const created = new ServerConnection(this.#host, { url, seconds: options.seconds }, (ended) => {
      this.#open.delete(ended);
      this.#idle.delete(ended);
    });
    this.#open.add(created);
    return created;
  }

  /**
   * Begins one episode for each item of `resets`, the data of a `reset` message. If the server can't be reached or is
   * full, tries again after growing waits. Throws EnvironmentServerError if that fails; then no episode is kept.
   */
  async begin(resets: readonly JsonRecord[]): Promise<readonly StartedEpisode[]> {
    if (resets.length > MAX_SESSIONS) {
      throw new EnvironmentServerError(
        `This run plays ${resets.length} episodes at once, and at most ${MAX_SESSIONS} connections can be open. Lower Prompts per update or Group size.`,
      );
    }
    const results = await Promise.allSettled(resets.map((data) => this.#begin(data, resets.length)));
    const sessions = results.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []));
    const failed = results.find((each) => each.status === 'rejected');
    if (!failed) return sessions;
    for (const { connection } of sessions) this.giveBack(connection);
    throw failed.reason;
  }

  /** Marks a connection as idle, because its episode is over or was given up. */
  giveBack(connection: ServerConnection): void {
    if (connection.isOpen) this.#idle.add(connection);
  }

  /** Closes all connections and stops all retries. */
  close(): void {
    this.#closings++;
    for (const connection of this.#open) connection.close();
    this.#open.clear();
    this.#idle.clear();
  }

  async #begin(data: JsonRecord, episodeCount: number): Promise<StartedEpisode> {
    const closings = this.#closings;
    for (let tries = 0; ; tries++) {
      const connection = this.connection();
      let failure: Error;
      try {
        const reply = await connection.ask({ type: 'reset', data });
        if (reply.kind === 'observation') return { connection, reply };
        if (reply.code !== 'CAPACITY_REACHED') {
          throw new EnvironmentServerError(`The server’s reset failed: ${reply.message}`);
        }
        const limit = reply.sessions === null ? '' : ` (its limit is ${reply.sessions})`;
        failure = new EnvironmentServerError(
          `The server can’t play enough episodes at once${limit}. This run needs ${episodeCount}. Start the server with max_concurrent_envs=${episodeCount} and SUPPORTS_CONCURRENT_SESSIONS = True in its class, or lower Prompts per update × Group size.`,
        );
      } catch (error) {
        connection.close();
        if (!(error instanceof ConnectionLostError)) throw error;
        failure = error;
      }
      connection.close();
      const wait = RETRY_WAITS_MS[tries];
      if (wait === undefined || closings !== this.#closings) throw failure;
      await new Promise<void>((resolve) => this.#host.setTimer(wait, resolve));
      if (closings !== this.#closings) throw failure;
    }
  }
}
