/** A file and where it lies, seen from what was chosen or dropped: `out/runs/a.json`. */
export interface PlacedFile {
  readonly path: string;
  readonly file: File;
}

const MOST_FILES = 10_000;

/** The files of a drop, those of its folders too. What was dropped is only there while the event lasts: call it at once. */
export async function droppedFiles({ items, files }: DataTransfer): Promise<readonly PlacedFile[]> {
  const entries = Array.from(items, (item) => item.webkitGetAsEntry() ?? []).flat();
  const loose = Array.from(files, (file) => ({ path: file.name, file }));
  if (entries.length === 0) return loose;
  const found: PlacedFile[] = [];
  const left = [...entries];
  for (let entry = left.shift(); entry && found.length < MOST_FILES; entry = left.shift()) {
    if (isFolder(entry)) left.push(...(await entriesOf(entry)));
    else if (isFile(entry)) found.push({ path: entry.fullPath.replace(/^\//, ''), file: await fileOf(entry) });
  }
  return found;
}

/** The files of an input, with their paths in the folder that was chosen. */
export function chosenFiles(list: FileList | readonly File[] | null): readonly PlacedFile[] {
  return Array.from(list ?? [], (file) => ({ path: file.webkitRelativePath || file.name, file })).slice(0, MOST_FILES);
}

const fileOf = (entry: FileSystemFileEntry) => new Promise<File>((resolve, reject) => entry.file(resolve, reject));

/** All entries of a folder: a reader hands out a hundred at a time. */
async function entriesOf(folder: FileSystemDirectoryEntry): Promise<readonly FileSystemEntry[]> {
  const reader = folder.createReader();
  const all: FileSystemEntry[] = [];
  for (;;) {
    const some = await new Promise<FileSystemEntry[]>((resolve, reject) => reader.readEntries(resolve, reject));
    if (some.length === 0 || all.length > MOST_FILES) return all;
    all.push(...some);
  }
}

const isFile = (entry: FileSystemEntry): entry is FileSystemFileEntry => entry.isFile;
const isFolder = (entry: FileSystemEntry): entry is FileSystemDirectoryEntry => entry.isDirectory;
