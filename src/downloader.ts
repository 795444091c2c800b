import { download, type FileStore } from './hub/modelDownload.ts';
import { recordDownload, openFileStore } from './hub/storedModels.ts';
import { type HubFile, listModel } from './hub/listing.ts';
import { ProblemError } from './base/problem.ts';
import type { DownloaderCommand, DownloaderEvent } from './wire/downloaderMessages.ts';

/** The worker that downloads models into the browser's storage, independently of everything else. */
let pauseController = new AbortController();

const post = (event: DownloaderEvent) => globalThis.postMessage(event);
const PROGRESS_INTERVAL_MS = 100; // between two reports of progress
/** Extra bytes that a browser's storage needs besides the files. */
const STORAGE_MARGIN = 1 << 24;

async function fetchAll({ listing, hub }: Extract<DownloaderCommand, { type: 'fetch' }>): Promise<void> {
  const { id, files } = listing;
  const { signal } = pauseController;
  const store = await openFileStore(id);
  try {
    await checkStorage(store, files);
    await recordDownload(listing, false);
    let lastReport = 0;
    const onProgress = (bytes: number, totalBytes: number, name: string) => {
      const now = performance.now();
      if (now - lastReport < PROGRESS_INTERVAL_MS && bytes < totalBytes) return;
      lastReport = now;
      post({ type: 'fetched', id, bytes, totalBytes: totalBytes, name });
    };
    await download(listing, { hub, fetch: globalThis.fetch.bind(globalThis), store, signal, onProgress });
    await recordDownload(listing, true);
    post({ type: 'complete', id });
  } finally {
    store.close();
  }
}

/** Throws ProblemError if the browser's storage has too little space for the missing bytes. */
async function checkStorage(store: FileStore, files: readonly HubFile[]): Promise<void> {
  const { quota, usage } = await navigator.storage.estimate();
  if (quota === undefined || usage === undefined) return;
  let missing = STORAGE_MARGIN;
  for (const { name, bytes } of files) missing += Math.max(0, bytes - (await store.size(name)));
  const left = quota - usage;
  if (missing <= left) return;
  const megabytes = (n: number) => `${Math.ceil(n / 2 ** 20)} MB`;
  throw new ProblemError(
    `This browser’s storage has room for ${megabytes(left)}, and ${megabytes(missing)} are needed. Remove a model or other sites’ data, or drop the model’s folder here instead.`,
  );
}

/** Runs a command and posts its error if it fails. */
async function runCommand(id: string, act: () => Promise<void>): Promise<void> {
  pauseController = new AbortController();
  const { signal } = pauseController;
  try {
    await act();
  } catch (error) {
    if (signal.aborted) post({ type: 'held', id });
    else post({ type: 'failed', id, message: error instanceof Error ? error.message : String(error) });
  }
}

globalThis.addEventListener('message', ({ data }: MessageEvent<DownloaderCommand>) => {
  if (data.type === 'pause') pauseController.abort();
  else if (data.type === 'fetch') void runCommand(data.listing.id, () => fetchAll(data));
  else {
    void runCommand(data.id, async () => {
      const access = { hub: data.hub, fetch: globalThis.fetch.bind(globalThis) };
      post({ type: 'listed', listing: await listModel(data.id, access, pauseController.signal) });
    });
  }
});
