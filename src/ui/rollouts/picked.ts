import type { PickedFile } from '../../wire/reading.ts';

const READ = /\.(jsonl|ndjson|json|parquet)$/i;
const MOST_FILES = 10_000;

/** Files of an input, with the paths they have in the folder that was picked; of a folder those that may hold rollouts. */
export function pickedFiles(list: FileList | readonly File[]): PickedFile[] {
  const files = Array.from(list, (file) => ({ path: file.webkitRelativePath || file.name, file }));
  const fit = files.filter(({ path }) => READ.test(path));
  // one file by itself is tried whatever it is called
  return (fit.length > 0 || files.length > 1 ? fit : files).slice(0, MOST_FILES);
}

/** Files of entries that were dropped, folders walked through. */
export async function droppedFiles(entries: readonly FileSystemEntry[]): Promise<PickedFile[]> {
  const found: PickedFile[] = [];
  const left = [...entries];
  for (let entry = left.shift(); entry && found.length < MOST_FILES; entry = left.shift()) {
    if (entry.isDirectory) left.push(...(await entriesOf(entry as FileSystemDirectoryEntry)));
    else if (READ.test(entry.name) || entries.length === 1) {
      found.push({ path: entry.fullPath.replace(/^\//, ''), file: await fileOf(entry as FileSystemFileEntry) });
    }
  }
  return found;
}

const fileOf = (entry: FileSystemFileEntry) => new Promise<File>((resolve, reject) => entry.file(resolve, reject));

/** All entries of a folder: a reader hands out a hundred at a time. */
async function entriesOf(folder: FileSystemDirectoryEntry): Promise<FileSystemEntry[]> {
  const reader = folder.createReader();
  const all: FileSystemEntry[] = [];
  for (;;) {
    const some = await new Promise<FileSystemEntry[]>((resolve, reject) => reader.readEntries(resolve, reject));
    if (some.length === 0 || all.length > MOST_FILES) return all;
    all.push(...some);
  }
}
