import { download, type Shelf } from './hub/modelDownload.ts';
import { noteDownload, shelfOf } from './hub/keptModels.ts';
import { type HubFile, listModel } from './hub/listing.ts';
import { ProblemError } from './base/problem.ts';
import type { DownloaderCommand, DownloaderEvent } from './wire/downloaderMessages.ts';

/** The worker that fetches models and puts them into the browser's storage, whatever else goes on. */
let pausing = new AbortController();

const post = (event: DownloaderEvent) => globalThis.postMessage(event);
const TOLD_MS = 100; // between two words of progress
/** Room that a browser's storage needs beside the files themselves. */
const MARGIN = 1 << 24;

async function fetchAll({ listing, hub }: Extract<DownloaderCommand, { type: 'fetch' }>): Promise<void> {
  const { id, files } = listing;
  const { signal } = pausing;
  const shelf = await shelfOf(id);
  try {
    await checkRoom(shelf, files);
    await noteDownload(listing, false);
    let lastReport = 0;
    const onProgress = (bytes: number, of: number, name: string) => {
      const now = performance.now();
      if (now - lastReport < TOLD_MS && bytes < of) return;
      lastReport = now;
      post({ type: 'fetched', id, bytes, of, name });
    };
    await download(listing, { hub, fetch: globalThis.fetch.bind(globalThis), shelf, signal, onProgress });
    await noteDownload(listing, true);
    post({ type: 'complete', id });
  } finally {
    shelf.close();
  }
}

/** Throws ProblemError where the browser's storage has no room for what is still to come. */
async function checkRoom(shelf: Shelf, files: readonly HubFile[]): Promise<void> {
  const { quota, usage } = await navigator.storage.estimate();
  if (quota === undefined || usage === undefined) return;
  let missing = MARGIN;
  for (const { name, bytes } of files) missing += Math.max(0, bytes - (await shelf.size(name)));
  const left = quota - usage;
  if (missing <= left) return;
  const megabytes = (n: number) => `${Math.ceil(n / 2 ** 20)} MB`;
  throw new ProblemError(
    `This browser’s storage has room for ${megabytes(left)}, and ${megabytes(missing)} are needed. Remove a model or other sites’ data, or drop the model’s folder here instead.`,
  );
}

/** Runs a command and tells what went wrong. */
async function obey(id: string, act: () => Promise<void>): Promise<void> {
  pausing = new AbortController();
  const { signal } = pausing;
  try {
    await act();
  } catch (error) {
    if (signal.aborted) post({ type: 'held', id });
    else post({ type: 'failed', id, message: error instanceof Error ? error.message : String(error) });
  }
}

globalThis.addEventListener('message', ({ data }: MessageEvent<DownloaderCommand>) => {
  if (data.type === 'pause') pausing.abort();
  else if (data.type === 'fetch') void obey(data.listing.id, () => fetchAll(data));
  else {
    void obey(data.id, async () => {
      const access = { hub: data.hub, fetch: globalThis.fetch.bind(globalThis) };
      post({ type: 'listed', listing: await listModel(data.id, access, pausing.signal) });
    });
  }
});
