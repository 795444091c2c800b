import { placeProblem } from '../base/pagePlace.ts';
import type { FileStore } from './modelDownload.ts';
import type { Listing } from './listing.ts';

/** A model in the browser's storage. */
export interface StoredModel {
  readonly listing: Listing;
  readonly bytes: number; // downloaded so far
  readonly complete: boolean; // true: all files are there and their checksums match
}

/** A file of OPFS with synchronous access, which only workers have. lib.dom lacks the type. */
interface SyncFile {
  readonly getSize: () => number;
  readonly write: (bytes: Uint8Array, options: { readonly at: number }) => number;
  readonly read: (bytes: Uint8Array, options: { readonly at: number }) => number;
  readonly flush: () => void;
  readonly close: () => void;
}
type SyncHandle = FileSystemFileHandle & { readonly createSyncAccessHandle: () => Promise<SyncFile> };

const FOLDER = 'models';
/** Name of the file that describes a download. No file of a model has this name. */
const RECORD_FILE = 'download.json';
/** The name of a file or folder in the browser's storage, which allows no slashes in names. */
const storedName = (id: string) => id.replaceAll('/', '--');

async function modelsFolder(): Promise<FileSystemDirectoryHandle> {
  const { storage } = navigator as Partial<Navigator>;
  if (!storage) throw new Error(`This browser stores no models here. ${placeProblem() ?? 'Use another browser.'}`);
  return (await storage.getDirectory()).getDirectoryHandle(FOLDER, { create: true });
}

/** The folder of a stored model in the browser's storage (OPFS). */
async function folderOf(id: string): Promise<FileSystemDirectoryHandle> {
  return (await modelsFolder()).getDirectoryHandle(storedName(id), { create: true });
}

/**
 * Opens a model's stored files for reading and writing, in a worker. At most one file is open at a time; `close`
 * closes it.
 */
export async function openFileStore(id: string): Promise<FileStore & { readonly close: () => void }> {
  const folder = await folderOf(id);
  let openFile: { readonly name: string; readonly file: SyncFile } | null = null;
  const close = () => {
    openFile?.file.flush();
    openFile?.file.close();
    openFile = null;
  };
  const openOnly = async (name: string): Promise<SyncFile> => {
    if (openFile?.name === name) return openFile.file;
    close();
    const handle = (await folder.getFileHandle(storedName(name), { create: true })) as SyncHandle;
    openFile = { name, file: await handle.createSyncAccessHandle() };
    return openFile.file;
  };
  return {
    close,
    size: async (name) => (await openOnly(name)).getSize(),
    read: async (name, begin, end) => {
      const bytes = new Uint8Array(end - begin);
      (await openOnly(name)).read(bytes, { at: begin });
      return bytes;
    },
    append: async (name, bytes) => {
      const file = await openOnly(name);
      file.write(bytes, { at: file.getSize() });
    },
    remove: async (name) => {
      close();
      await folder.removeEntry(storedName(name)).catch(() => undefined);
    },
  };
}

/**
 * Records in the model's folder which files are downloaded, and whether the download is complete. Works only in a
 * worker.
 */
export async function recordDownload(listing: Listing, complete: boolean): Promise<void> {
  const folder = await folderOf(listing.id);
  const handle = (await folder.getFileHandle(RECORD_FILE, { create: true })) as SyncHandle;
  const file = await handle.createSyncAccessHandle();
  const text = new TextEncoder().encode(JSON.stringify({ listing, complete }));
  file.write(text, { at: 0 });
  (file as SyncFile & { readonly truncate: (size: number) => void }).truncate(text.length);
  file.close();
}

/** All stored models, complete or in part. */
export async function storedModels(): Promise<readonly StoredModel[]> {
  const models: StoredModel[] = [];
  const folders = await modelsFolder();
  for await (const handle of folders.values()) {
    if (handle.kind !== 'directory') continue;
    const folder = handle;
    try {
      const record = await (await folder.getFileHandle(RECORD_FILE)).getFile();
      const { listing, complete } = JSON.parse(await record.text()) as { listing: Listing; complete: boolean };
      const sizes = await Promise.all(
        listing.files.map(({ name }) =>
          folder.getFileHandle(storedName(name)).then(
            async (file) => (await file.getFile()).size,
            () => 0,
          ),
        ),
      );
      models.push({ listing, complete, bytes: sizes.reduce((sum, size) => sum + size, 0) });
    } catch {
      // the download ended before its record was written
    }
  }
  return models;
}

/** The files of a stored model, with their names on the hub. They can be read in slices. */
export async function storedFiles({
  id,
  files,
}: Listing): Promise<readonly { readonly name: string; readonly file: File }[]> {
  const folder = await folderOf(id);
  return Promise.all(
    files.map(async ({ name }) => ({ name, file: await (await folder.getFileHandle(storedName(name))).getFile() })),
  );
}

/** Deletes a model and all of its downloaded files. */
export async function removeModel(id: string): Promise<void> {
  await (await modelsFolder()).removeEntry(storedName(id), { recursive: true });
}
