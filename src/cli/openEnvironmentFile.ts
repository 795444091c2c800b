import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import path from 'node:path';
import { EnvironmentFileError, MOST_ENVIRONMENT_BYTES, placeIn } from '../domain/environmentFile.ts';
import { isServerAddress } from '../domain/serverAddress.ts';
import { visible } from '../base/visible.ts';
import { type OpenedFile, openWritten } from '../written/openWritten.ts';
import { callerPath, readWhole } from './files.ts';
import { startPython } from './pythonThread.ts';

/** Reads an environment's file. Throws ProblemError, and EnvironmentFileError with what is wrong in it. */
export async function openEnvironmentFile(given: string): Promise<OpenedFile> {
  const bytes = await readWhole(callerPath(given), MOST_ENVIRONMENT_BYTES);
  const file = { name: path.basename(given), text: new TextDecoder().decode(bytes) };
  if (isServerAddress(file.text)) {
    throw new EnvironmentFileError(
      `This file holds the address of a server, not a program. To talk to it, name it: --env-server ${visible(file.text.trim())}`,
      null,
    );
  }
  return openWritten(file, { machine: sandboxMachine, python: startPython });
}

/** QuickJS, compiled to WebAssembly: the virtual machine that environments run in. */
export function sandboxMachine(): Promise<Uint8Array<ArrayBuffer>> {
  return readFile(createRequire(import.meta.url).resolve('quickjs-wasi/quickjs.wasm'));
}

/** What is wrong with an environment, with its place: a file, or the host of a server. Null for any other error. */
export function faultText(error: unknown, name: string): string | null {
  if (!(error instanceof EnvironmentFileError)) return null;
  return [error.first, ...error.others].map(({ what, line }) => `${placeIn(name, line)}${what}`).join('\n');
}
