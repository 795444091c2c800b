import type { EnvironmentFile } from '../domain/environmentFile.ts';
import { readServerAddress, serverFile } from '../domain/serverAddress.ts';
import type { ToolEnv } from '../envs/env.ts';
import type { Speaking } from '../envs/speech.ts';
import type { SocketPlace } from './serverConnection.ts';
import { serverEnvironment } from './serverEnvironment.ts';

/** A server that plays the environment. Nothing has connected yet. */
export interface OpenedServer {
  readonly file: EnvironmentFile;
  /** Connects, and returns the environment to train on. Throws EnvironmentServerError. */
  readonly environment: (speaking: Speaking) => Promise<ToolEnv>;
}

/** Reads the address of a server. Throws EnvironmentServerError. */
export function openServer(text: string, place: SocketPlace): OpenedServer {
  const address = readServerAddress(text);
  return {
    file: serverFile(address),
    environment: ({ chatTokenizer }) => serverEnvironment(address, place, chatTokenizer),
  };
}
