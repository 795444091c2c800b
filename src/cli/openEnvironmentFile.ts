import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import path from 'node:path';
import type { EnvironmentFile } from '../domain/environmentFile.ts';
import type { ToolEnv } from '../envs/env.ts';
import type { ChatTokenizer } from '../text/chatTokenizer.ts';
import { type Declaration, EnvironmentFileError, readDeclaration } from '../written/declaration.ts';
import { openSandbox, type Sandbox } from '../written/sandbox.ts';
import { writtenEnvironment } from '../written/writtenEnvironment.ts';
import { callerPath, readWhole } from './files.ts';

const MOST_BYTES = 1e6;

/** An environment's file, read but not run, and ways to run it. */
export interface OpenedFile {
  readonly file: EnvironmentFile;
  readonly declaration: Declaration;
  /** Opens a virtual machine of its own with the environment in it. Throws EnvironmentFileError. */
  readonly sandbox: () => Promise<Sandbox>;
  /** The environment to train on, for a model that speaks so. Throws EnvironmentFileError. */
  readonly environment: (chatTokenizer: ChatTokenizer) => Promise<ToolEnv>;
}

/** Reads an environment's file. Throws FileError, and EnvironmentFileError with what is wrong in it. */
export async function openEnvironmentFile(given: string): Promise<OpenedFile> {
  const bytes = await readWhole(callerPath(given), MOST_BYTES);
  const file = { name: path.basename(given), text: new TextDecoder().decode(bytes) };
  const declaration = readDeclaration(file.text);
  const machine = await readFile(createRequire(import.meta.url).resolve('quickjs-wasi/quickjs.wasm'));
  const sandbox = () => openSandbox(machine, declaration);
  return {
    ...{ file, declaration, sandbox },
    environment: async (chatTokenizer) => writtenEnvironment(declaration, await sandbox(), chatTokenizer),
  };
}

/** Where in a file something is, as terminals make a link of it. */
export function placeIn(file: string, line: number | null): string {
  return `${path.basename(file)}:${line === null ? '' : `${line}:`} `;
}

/** What is wrong with an environment, with its place; null for any other error. */
export function faultText(error: unknown, file: string): string | null {
  return error instanceof EnvironmentFileError ? `${placeIn(file, error.line)}${error.says}` : null;
}
