import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readdir, rename, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import { FILES, type Files, WRITTEN } from '../checkpoints/checkpointFolder.ts';
import { filesOfZip, zipOf } from '../formats/zip.ts';
import { fileError, makeFolder, readWhole, writableFolder, writeWhole } from './files.ts';

/** Larger files are no checkpoint of this project's networks. */
const MOST_BYTES = 2 ** 30;
/** Where files lie that are all on the disk and have yet to take their places. */
export const WHOLE = '.whole';

/**
 * Writes files into a folder, made where it is not there, or as one zip where the name ends in `.zip`. All are on the disk, in
 * a folder beside, before the first takes its place: a program that is killed leaves the old ones or, in the moment it takes to move them, what
 * `readFolder` moves to its end; a zip is there whole or not at all. Of a checkpoint that was there before a checkpoint no file stays, other
 * files of the folder do. Throws ProblemError.
 */
export async function writeFolder(place: string, files: Files): Promise<void> {
  if (isZipName(place)) return writeWhole(place, zipOf(files));
  await writableFolder(place);
  const beside = path.join(place, `.${randomUUID()}`);
  try {
    await mkdir(beside);
    const folders = new Set([...files.keys()].map((name) => path.dirname(name)));
    for (const root of [beside, place]) {
      for (const folder of folders) await makeFolder(path.join(root, folder));
    }
    for (const [name, bytes] of files) await writeWhole(path.join(beside, name), bytes);
    await moveWhole(place); // of one that was killed
    await rename(beside, path.join(place, WHOLE));
    await moveWhole(place);
    const stale = files.has(FILES.manifest) ? [...WRITTEN].filter((name) => !files.has(name)) : [];
    for (const name of stale) await rm(path.join(place, name), { force: true });
  } catch (error) {
    throw fileError(place, 'written to', error);
  } finally {
    await rm(beside, { recursive: true, force: true });
  }
}

/** Tries whether files can be written into a folder, or beside a zip, before anything long begins. The folder is made. Throws ProblemError. */
export function tryFolder(place: string): Promise<void> {
  return writableFolder(isZipName(place) ? path.dirname(place) : place);
}

/** Moves files that were whole when who wrote them was killed to their places. */
async function moveWhole(place: string): Promise<void> {
  const from = path.join(place, WHOLE);
  if (!existsSync(from)) return;
  await moveFiles(from, place);
  await rm(from, { recursive: true, force: true });
}

/** Moves each file below `from` to where it is below `to`: a folder that is there already cannot be renamed over. */
async function moveFiles(from: string, to: string): Promise<void> {
  for (const entry of await readdir(from, { withFileTypes: true }).catch(movedAlready)) {
    const [source, target] = [path.join(from, entry.name), path.join(to, entry.name)];
    if (!entry.isDirectory()) {
      await rename(source, target).catch(movedAlready);
      continue;
    }
    await makeFolder(target);
    await moveFiles(source, target);
  }
}

/** Another program that opens the same folder at the same time may have been faster. Throws any other error. */
function movedAlready(error: unknown): [] {
  if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return [];
  throw error;
}

/**
 * The files of a checkpoint's folder or zip. In a folder those that a checkpoint has are read, others are named and empty. Throws ProblemError where it cannot
 * be read, ProblemError where a zip is none.
 */
export async function readFolder(place: string): Promise<Files> {
  const found = await stat(place).catch((error: unknown) => {
    throw fileError(place, 'read', error);
  });
  if (!found.isDirectory()) return filesOfZip(path.basename(place), await readWhole(place, MOST_BYTES));
  await moveWhole(place).catch((error: unknown) => {
    throw fileError(place, 'read', error);
  });
  const names = (await readdir(place, { withFileTypes: true }))
    .filter((entry) => entry.isFile())
    .map(({ name }) => name);
  const files = new Map<string, Uint8Array>();
  for (const name of names.sort()) {
    files.set(name, WRITTEN.has(name) ? await readWhole(path.join(place, name), MOST_BYTES) : new Uint8Array());
  }
  return files;
}

/** Whether a name asks for a zip and not for a folder. */
export const isZipName = (place: string) => place.toLowerCase().endsWith('.zip');
