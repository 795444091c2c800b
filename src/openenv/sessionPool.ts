import { EnvironmentServerError, type ServerAddress } from '../domain/serverAddress.ts';
import type { JsonRecord } from '../base/jsonRecord.ts';
import { ConnectionLostError, ServerConnection, type SocketPlace } from './serverConnection.ts';
import type { ServerReply } from './serverMessages.ts';

/** Waits before each further try to begin an episode, in ms. Their sum is about the time that a small server takes to restart. */
const WAITS: readonly number[] = [250, 500, 1000, 2000, 4000];
/** Browsers allow about 200 sockets to one host. */
const MOST_SESSIONS = 200;

/** An episode that a server has begun, and the connection it is played on. */
export interface BegunSession {
  readonly connection: ServerConnection;
  readonly reply: Extract<ServerReply, { kind: 'observation' }>;
}

/** The sessions of a server: one connection for each episode under way. A connection whose episode is over begins the next one. */
export class SessionPool {
  readonly #address: ServerAddress;
  readonly #place: SocketPlace;
  readonly #open = new Set<ServerConnection>();
  readonly #idle = new Set<ServerConnection>();
  #closings = 0; // number of calls of `close`; a try that sees it change gives up

  constructor(address: ServerAddress, place: SocketPlace) {
    this.#address = address;
    this.#place = place;
  }

  /** An open connection that no episode uses. */
  connection(): ServerConnection {
    const [idle] = this.#idle;
    if (idle) this.#idle.delete(idle);
    if (idle?.isOpen) return idle;
    const { url, options } = this.#address;
    const made = new ServerConnection(this.#place, { url, seconds: options.seconds }, (ended) => {
      this.#open.delete(ended);
      this.#idle.delete(ended);
    });
    this.#open.add(made);
    return made;
  }

  /**
   * Begins one episode for each item of `resets`, the data of a `reset` message. If the server can't be reached or is full, tries again
   * after growing waits. Throws EnvironmentServerError if that fails; then no episode is kept.
   */
  async begin(resets: readonly JsonRecord[]): Promise<readonly BegunSession[]> {
    if (resets.length > MOST_SESSIONS) {
      throw new EnvironmentServerError(
        `This run plays ${resets.length} episodes at once, and at most ${MOST_SESSIONS} connections can be open. Lower Prompts per update or Group size.`,
      );
    }
    const begun = await Promise.allSettled(resets.map((data) => this.#begin(data, resets.length)));
    const sessions = begun.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []));
    const failed = begun.find((each) => each.status === 'rejected');
    if (!failed) return sessions;
    for (const { connection } of sessions) this.giveBack(connection);
    throw failed.reason;
  }

  /** This connection's episode is over or given up. */
  giveBack(connection: ServerConnection): void {
    if (connection.isOpen) this.#idle.add(connection);
  }

  /** Closes all connections, and ends the tries to open one. */
  close(): void {
    this.#closings++;
    for (const connection of this.#open) connection.close();
    this.#open.clear();
    this.#idle.clear();
  }

  async #begin(data: JsonRecord, together: number): Promise<BegunSession> {
    const closings = this.#closings;
    for (let tries = 0; ; tries++) {
      const connection = this.connection();
      let lost: Error;
      try {
        const reply = await connection.ask({ type: 'reset', data });
        if (reply.kind === 'observation') return { connection, reply };
        if (reply.code !== 'CAPACITY_REACHED') {
          throw new EnvironmentServerError(`The server’s reset failed: ${reply.says}`);
        }
        const most = reply.sessions === null ? '' : ` (its limit is ${reply.sessions})`;
        lost = new EnvironmentServerError(
          `The server can’t play enough episodes at once${most}. This run needs ${together}. Start the server with max_concurrent_envs=${together} and SUPPORTS_CONCURRENT_SESSIONS = True in its class, or lower Prompts per update × Group size.`,
        );
      } catch (error) {
        connection.close();
        if (!(error instanceof ConnectionLostError)) throw error;
        lost = error;
      }
      connection.close();
      const wait = WAITS[tries];
      if (wait === undefined || closings !== this.#closings) throw lost;
      await new Promise<void>((resolve) => this.#place.after(wait, resolve));
      if (closings !== this.#closings) throw lost;
    }
  }
}
