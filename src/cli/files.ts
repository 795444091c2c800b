import { access, mkdir, mkdtemp, open, readFile, rename, rm, rmdir, stat, writeFile } from 'node:fs/promises';
import { constants, existsSync, readdirSync, closeSync, openSync, readSync, statSync } from 'node:fs';
import path from 'node:path';
import { ProblemError } from '../base/problem.ts';
import { visible } from '../base/visible.ts';
import type { ByteSource } from '../formats/byteSource.ts';

const ERROR_TEXTS: Readonly<Record<string, string>> = {
  ENOSPC: 'the disk is full. Free some space, or choose a folder on another disk.',
  EDQUOT: 'the space this user may take is used up. Free some, or choose a folder on another disk.',
  EROFS: 'it lies on a disk that is read-only. Choose a folder that can be written to.',
  EACCES: 'this user may not. Change its permissions, or choose another.',
  EPERM: 'this user may not. Change its permissions, or choose another.',
  ENOENT: 'there is no such file or folder. Check the path; it begins at the folder you called from.',
  ENOTDIR: 'a part of its path is a file, not a folder. Check the path.',
  EEXIST: 'a file of that name is in the way. Choose another, or move it away.',
  EISDIR: 'it is a folder. Name a file.',
  ENAMETOOLONG: 'its name is too long. Choose a shorter one.',
  EMFILE: 'too many files are open. Close some programs and try again.',
  EFBIG: 'it would be larger than this user may write. Raise the limit, or choose another disk.',
  EIO: 'the disk reports a fault. Choose a folder on another disk.',
  EINVAL: 'the system does not take this name or place. Choose another.',
  ERR_INVALID_ARG_VALUE: 'the system does not take this name. Choose another.',
};

/** Converts an error to a ProblemError about `file`. `action` says what was tried, such as "read". */
export function fileError(file: string, action: string, error: unknown): ProblemError {
  if (error instanceof ProblemError) return error;
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  const why = ERROR_TEXTS[code] ?? `${error instanceof Error ? error.message.split('\n', 1)[0] : String(error)}.`;
  return new ProblemError(`${fullPath(file)} cannot be ${action}: ${why}`, { cause: error });
}

/** A path for a message. It isn't shortened, because its end matters. */
const fullPath = (file: string) => visible(file, 4096);

/** Resolves a path relative to the folder of the caller, because the programs run in the project's folder. */
export function callerPath(file: string): string {
  return path.resolve(process.env['CALLER_FOLDER'] ?? process.cwd(), file);
}

/** Reads a file. Throws ProblemError if it can't be read, isn't a file or has more than `maxBytes` bytes. */
export async function readWhole(file: string, maxBytes = Infinity): Promise<Uint8Array<ArrayBuffer>> {
  try {
    const info = await stat(file);
    if (!info.isFile()) throw new ProblemError(`${fullPath(file)} cannot be read: it isn’t a file. Name a file.`);
    if (info.size > maxBytes) {
      throw new ProblemError(
        `${fullPath(file)} cannot be read: it has ${(info.size / 1e6).toFixed(1)} MB, and the limit is ${maxBytes / 1e6} MB.`,
      );
    }
    return new Uint8Array(await readFile(file));
  } catch (error) {
    throw fileError(file, 'read', error);
  }
}

/** A name that isn't used in the caller's folder yet: `name`, or `name` with a number. */
export function freeName(name: string): string {
  for (let count = 1; ; count++) {
    const free = count === 1 ? name : `${name}-${count}`;
    if (!existsSync(callerPath(free))) return free;
  }
}

/** The names in a folder, sorted. Throws ProblemError. */
export function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder).sort();
  } catch (error) {
    throw fileError(folder, 'read', error);
  }
}

/** Makes a folder and checks, before anything long begins, that it can be written to. Throws ProblemError. */
export async function writableFolder(folder: string): Promise<void> {
  try {
    // checked first, because mkdir of several levels reports a read-only file system as a missing folder
    await access(await nearestExisting(folder), constants.W_OK);
    await makeFolder(folder);
    await access(folder, constants.W_OK);
    // some places, such as /proc, claim to be writable but are not
    await rmdir(await mkdtemp(path.join(folder, '.tried-')));
  } catch (error) {
    throw fileError(folder, 'written to', error);
  }
}

/** Makes parents too. Node's recursive mkdir never ends where the system allows no folders, such as below /proc. */
export async function makeFolder(folder: string): Promise<void> {
  const existing = await nearestExisting(folder);
  const missing = path.relative(existing, folder).split(path.sep).filter(Boolean);
  for (const [i] of missing.entries()) {
    const each = path.join(existing, ...missing.slice(0, i + 1));
    await mkdir(each).catch((error: unknown) => {
      const code = error instanceof Error && 'code' in error ? error.code : '';
      if (code === 'ENOENT') {
        throw new ProblemError(
          `${fullPath(each)} cannot be written to: the system makes no folder there. Choose another place.`,
        );
      }
      if (code !== 'EEXIST') throw error; // another program was faster
    });
  }
  if (!(await stat(folder)).isDirectory()) await mkdir(folder); // fails with the error that a file is in the way
}

/** The folder itself if it exists; otherwise its nearest parent that does. */
async function nearestExisting(folder: string): Promise<string> {
  const parent = path.dirname(folder);
  if (parent === folder) return folder;
  const info = await stat(folder).catch(() => null);
  return info ? folder : nearestExisting(parent);
}

/** A text, bytes or pieces, completely or not at all: an old file stays until the new one is on the disk. Throws ProblemError. */
export async function writeWhole(
  file: string,
  content: string | Uint8Array | AsyncIterable<Uint8Array>,
): Promise<void> {
  const existing = await stat(file).catch(() => null);
  if (existing && !existing.isFile())
    throw new ProblemError(`${fullPath(file)} cannot be written: it isn’t a file. Name a file.`);
  const temporary = `${file}.${process.pid}.tmp`;
  try {
    const handle = await open(temporary, 'w');
    try {
      await writeFile(handle, content);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await rename(temporary, file);
  } catch (error) {
    await rm(temporary, { force: true }).catch(() => undefined);
    throw fileError(file, 'written', error);
  }
}

/** Opened anew for each slice; null if it doesn't exist. Throws ProblemError if it isn't a file. Reading rejects with ProblemError. */
export function diskSource(file: string): ByteSource | null {
  const found = statSync(file, { throwIfNoEntry: false });
  if (!found) return null;
  if (!found.isFile()) throw new ProblemError(`${file} cannot be read: it isn’t a file. Name a file.`);
  const read = (begin: number, end: number): Promise<Uint8Array> => {
    try {
      const bytes = new Uint8Array(end - begin);
      const descriptor = openSync(file, 'r');
      try {
        return Promise.resolve(bytes.subarray(0, readSync(descriptor, bytes, 0, bytes.length, begin)));
      } finally {
        closeSync(descriptor);
      }
    } catch (error) {
      return Promise.reject(fileError(file, 'read', error));
    }
  };
  return { name: path.basename(file), size: found.size, read };
}
