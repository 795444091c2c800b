import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readdir, rename, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import { FILE_NAMES, type Files, WRITTEN_FILES } from '../checkpoints/checkpointFolder.ts';
import { filesOfZip, zipOf } from '../formats/zip.ts';
import { fileError, makeFolder, readWhole, writableFolder, writeWhole } from './files.ts';

/** Maximum size of a file. No checkpoint of this project's networks is larger. */
const MAX_BYTES = 2 ** 30;
/** Name of the temporary folder with files that are completely written but not yet moved to their places. */
export const COMPLETED_FOLDER = '.whole';

/**
 * Writes files into a folder, which is made if needed, or as one zip if the name ends in `.zip`. A zip is written
 * completely or not at all. In a folder, all files are first written to a temporary folder and then moved to their
 * places. If the program is killed before the move, the old files remain; if it is killed during the move, `readFolder`
 * or the next `writeFolder` completes it. A new checkpoint replaces or removes all files of an old checkpoint in the
 * folder; other files stay. Throws ProblemError.
 */
export async function writeFolder(place: string, files: Files): Promise<void> {
  if (isZipName(place)) return writeWhole(place, zipOf(files));
  await writableFolder(place);
  const temporary = path.join(place, `.${randomUUID()}`);
  try {
    await mkdir(temporary);
    const folders = new Set([...files.keys()].map((name) => path.dirname(name)));
    for (const root of [temporary, place]) {
      for (const folder of folders) await makeFolder(path.join(root, folder));
    }
    for (const [name, bytes] of files) await writeWhole(path.join(temporary, name), bytes);
    await finishMove(place); // completes the move of a program that was killed
    await rename(temporary, path.join(place, COMPLETED_FOLDER));
    await finishMove(place);
    const stale = files.has(FILE_NAMES.manifest) ? [...WRITTEN_FILES].filter((name) => !files.has(name)) : [];
    for (const name of stale) await rm(path.join(place, name), { force: true });
  } catch (error) {
    throw fileError(place, 'written to', error);
  } finally {
    await rm(temporary, { recursive: true, force: true });
  }
}

/** Checks, before anything long begins, that a folder or zip can be written. Makes the folder. Throws ProblemError. */
export function checkWritable(place: string): Promise<void> {
  return writableFolder(isZipName(place) ? path.dirname(place) : place);
}

/** Moves completely written files to their places, if a program was killed before it had moved them all. */
async function finishMove(place: string): Promise<void> {
  const completed = path.join(place, COMPLETED_FOLDER);
  if (!existsSync(completed)) return;
  await moveFiles(completed, place);
  await rm(completed, { recursive: true, force: true });
}

/** Moves single files, because an existing folder can't be replaced by renaming. */
async function moveFiles(from: string, to: string): Promise<void> {
  for (const entry of await readdir(from, { withFileTypes: true }).catch(ignoreMissing)) {
    const [source, target] = [path.join(from, entry.name), path.join(to, entry.name)];
    if (!entry.isDirectory()) {
      await rename(source, target).catch(ignoreMissing);
      continue;
    }
    await makeFolder(target);
    await moveFiles(source, target);
  }
}

/** Another program that opens the folder may have moved the file. Throws other errors. */
function ignoreMissing(error: unknown): [] {
  if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return [];
  throw error;
}

/**
 * Reads the files of a checkpoint's folder or zip. In a folder, first completes an interrupted move. Files of a folder
 * that don't belong to a checkpoint are listed without content. Throws ProblemError if something can't be read, is too
 * large or isn't a zip.
 */
export async function readFolder(place: string): Promise<Files> {
  const info = await stat(place).catch((error: unknown) => {
    throw fileError(place, 'read', error);
  });
  if (!info.isDirectory()) return filesOfZip(path.basename(place), await readWhole(place, MAX_BYTES));
  await finishMove(place).catch((error: unknown) => {
    throw fileError(place, 'read', error);
  });
  const names = (await readdir(place, { withFileTypes: true }))
    .filter((entry) => entry.isFile())
    .map(({ name }) => name);
  const files = new Map<string, Uint8Array>();
  for (const name of names.sort()) {
    files.set(name, WRITTEN_FILES.has(name) ? await readWhole(path.join(place, name), MAX_BYTES) : new Uint8Array());
  }
  return files;
}

/** Whether a name means a zip instead of a folder. */
export const isZipName = (place: string) => place.toLowerCase().endsWith('.zip');
