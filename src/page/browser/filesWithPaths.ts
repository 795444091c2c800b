/** A file with its path relative to what was chosen or dropped: `out/runs/a.json`. */
export interface FileWithPath {
  readonly path: string;
  readonly file: File;
}

const MAX_FILES = 10_000;

/** Includes files in folders. Call it during the event, because the dropped items are gone after that. */
export async function droppedFiles({ items, files }: DataTransfer): Promise<readonly FileWithPath[]> {
  const entries = Array.from(items, (item) => item.webkitGetAsEntry() ?? []).flat();
  const topLevelFiles = Array.from(files, (file) => ({ path: file.name, file }));
  if (entries.length === 0) return topLevelFiles;
  const droppedFileList: FileWithPath[] = [];
  const pending = [...entries];
  for (let entry = pending.shift(); entry && droppedFileList.length < MAX_FILES; entry = pending.shift()) {
    if (isFolder(entry)) pending.push(...(await entriesOf(entry)));
    else if (isFile(entry))
      droppedFileList.push({ path: entry.fullPath.replace(/^\//, ''), file: await fileOf(entry) });
  }
  return droppedFileList;
}

/** The files of an input, with their paths in the folder that was chosen. */
export function chosenFiles(list: FileList | readonly File[] | null): readonly FileWithPath[] {
  return Array.from(list ?? [], (file) => ({ path: file.webkitRelativePath || file.name, file })).slice(0, MAX_FILES);
}

const fileOf = (entry: FileSystemFileEntry) => new Promise<File>((resolve, reject) => entry.file(resolve, reject));

/** All entries of a folder. A directory reader returns at most a hundred at a time. */
async function entriesOf(folder: FileSystemDirectoryEntry): Promise<readonly FileSystemEntry[]> {
  const reader = folder.createReader();
  const all: FileSystemEntry[] = [];
  for (;;) {
    const nextEntries = await new Promise<FileSystemEntry[]>((resolve, reject) => reader.readEntries(resolve, reject));
    if (nextEntries.length === 0 || all.length > MAX_FILES) return all;
    all.push(...nextEntries);
  }
}

const isFile = (entry: FileSystemEntry): entry is FileSystemFileEntry => entry.isFile;
const isFolder = (entry: FileSystemEntry): entry is FileSystemDirectoryEntry => entry.isDirectory;
