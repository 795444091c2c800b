import type { EnvironmentFile } from '../domain/environmentFile.ts';
import type { ToolEnv } from '../envs/env.ts';
import type { AgentLanguage } from '../envs/turnCodec.ts';
import type { Declaration } from './script/declaration.ts';
import { declarationOf, type Runtimes, sandboxFor } from './languages.ts';
import type { Sandbox } from './script/sandbox.ts';
import { writtenEnvironment } from './writtenEnvironment.ts';

/** An environment's file that was read but not run, and functions to run it. */
export interface OpenedFile {
  readonly file: EnvironmentFile;
  readonly declaration: Declaration;
  /** Opens a sandbox of its own with the environment in it. Throws EnvironmentFileError. */
  readonly sandbox: () => Promise<Sandbox>;
  /** The environment to train on, for an agent with this language (words or text). Throws EnvironmentFileError. */
  readonly environment: (agentLanguage: AgentLanguage) => Promise<ToolEnv>;
}

/** Reads an environment's file. Throws EnvironmentFileError with what is wrong in the file. */
export function openWritten(file: EnvironmentFile, runtimes: Runtimes): OpenedFile {
  const declaration = declarationOf(file);
  const sandbox = () => sandboxFor(declaration, runtimes);
  return {
    ...{ file, declaration, sandbox },
    environment: async (speaking) => writtenEnvironment(declaration, await sandbox(), speaking),
  };
}
