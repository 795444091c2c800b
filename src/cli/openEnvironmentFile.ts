import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import path from 'node:path';
import { EnvironmentFileError, MAX_ENVIRONMENT_BYTES, placeIn } from '../domain/environmentFile.ts';
import { isServerAddress } from '../domain/serverAddress.ts';
import { visible } from '../base/visible.ts';
import type { OpenedFile } from '../written/openWritten.ts';
import { callerPath, readWhole } from './files.ts';

/** Throws ProblemError if the file can't be read, EnvironmentFileError if it has faults. */
export async function openEnvironmentFile(filePath: string): Promise<OpenedFile> {
  const bytes = await readWhole(callerPath(filePath), MAX_ENVIRONMENT_BYTES);
  const file = { name: path.basename(filePath), text: new TextDecoder().decode(bytes) };
  if (isServerAddress(file.text)) {
    throw new EnvironmentFileError(
      `This file holds the address of a server, not a program. To talk to it, name it: --env-server ${visible(file.text.trim())}`,
      null,
    );
  }
  // parsers and virtual machines take a third of a program's start, and most runs need none
  const [{ openWritten }, { startPython }] = await Promise.all([
    import('../written/openWritten.ts'),
    import('./pythonThread.ts'),
  ]);
  return openWritten(file, { quickjsWasm: quickJsWasm, startPython });
}

/** QuickJS, compiled to WebAssembly: the virtual machine that environments run in. */
export function quickJsWasm(): Promise<Uint8Array<ArrayBuffer>> {
  return readFile(createRequire(import.meta.url).resolve('quickjs-wasi/quickjs.wasm'));
}

/** A line for each fault, with its place in `name`: a file, or the host of a server. Null for any other error. */
export function faultText(error: unknown, name: string): string | null {
  if (!(error instanceof EnvironmentFileError)) return null;
  return [error.first, ...error.others].map(({ what, line }) => `${placeIn(name, line)}${what}`).join('\n');
}
