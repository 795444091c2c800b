import type { EnvironmentFile } from '../domain/environmentFile.ts';
import { readServerAddress, serverFile } from '../domain/serverAddress.ts';
import type { ToolEnv } from '../envs/env.ts';
import type { AgentLanguage } from '../envs/turnCodec.ts';
import type { SocketHost } from './serverConnection.ts';
import { serverEnvironment } from './serverEnvironment.ts';

/** A server that plays the environment. Nothing has connected yet. */
export interface OpenedServer {
  readonly file: EnvironmentFile;
  /** Connects, and returns the environment to train on. Throws EnvironmentServerError. */
  readonly environment: (speaking: AgentLanguage) => Promise<ToolEnv>;
}

/** Reads the address of a server. Throws EnvironmentServerError. */
export function openServer(text: string, place: SocketHost): OpenedServer {
  const address = readServerAddress(text);
  return {
    file: serverFile(address),
    environment: ({ chatTokenizer }) => serverEnvironment(address, place, chatTokenizer),
  };
}
