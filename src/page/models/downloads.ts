import { create } from 'zustand';
import { HUB } from '../../hub/modelCatalogue.ts';
import { storedFiles, storedModels, type StoredModel, removeModel } from '../../hub/storedModels.ts';
import type { Listing } from '../../hub/listing.ts';
import type { DownloaderCommand, DownloaderEvent } from '../../wire/downloaderMessages.ts';
import { notice } from '../browser/notices.ts';
import { WorkerClient } from '../browser/workerClient.ts';
import { readHeaders } from './modelStore.ts';

interface DownloadsState {
  readonly kept: readonly StoredModel[];
  readonly requestedId: string | null; // id of the model whose list of files is requested
  readonly shownListing: Listing | null;
  readonly download: {
    readonly id: string;
    readonly bytes: number;
    readonly totalBytes: number;
    readonly name: string;
  } | null;
  readonly problem: { readonly id: string; readonly message: string } | null;
}

export const useDownloads = create<DownloadsState>()(() => ({
  kept: [],
  requestedId: null,
  shownListing: null,
  download: null,
  problem: null,
}));

let client: WorkerClient<DownloaderCommand, DownloaderEvent> | null = null;

function send(command: DownloaderCommand): void {
  client ??= new WorkerClient(
    'The download',
    () => new Worker(new URL('../../downloader.ts', import.meta.url), { type: 'module', name: 'downloading' }),
    { onEvent: handleEvent, onLoss: handleLoss },
  );
  client.send(command);
}

function handleLoss(reason: string): void {
  client = null;
  const { requestedId, download } = useDownloads.getState();
  const problem = { id: requestedId ?? download?.id ?? '', message: `${reason} What was downloaded is kept.` };
  useDownloads.setState({ requestedId: null, download: null, problem });
  void refreshKept();
}

function handleEvent(event: DownloaderEvent): void {
  switch (event.type) {
    case 'listed':
      useDownloads.setState({ requestedId: null, shownListing: event.listing });
      return;
    case 'fetched':
      useDownloads.setState({ download: event });
      return;
    case 'failed':
      useDownloads.setState({ requestedId: null, download: null, problem: event });
      void refreshKept();
      return;
    case 'held':
    case 'complete':
      // refresh the stored models first, so that a complete model isn't briefly offered for download again
      void refreshKept().then(() => useDownloads.setState({ requestedId: null, download: null, shownListing: null }));
  }
}

/** Reads which models are in the browser's storage. */
export async function refreshKept(): Promise<void> {
  try {
    useDownloads.setState({ kept: await storedModels() });
  } catch {
    // a browser without such storage has no models; pressing Download then shows the reason
  }
}

/** Requests the list of a model's files from the hub. Downloads no file yet. */
export function requestListing(id: string): void {
  useDownloads.setState({ requestedId: id, shownListing: null, problem: null });
  send({ type: 'list', id, hub: HUB });
}

/** Downloads a model, or the rest of it. */
export function downloadModel(listing: Listing): void {
  const total = listing.files.reduce((sum, { bytes }) => sum + bytes, 0);
  useDownloads.setState({
    download: { id: listing.id, bytes: 0, totalBytes: total, name: '' },
    shownListing: null,
    problem: null,
  });
  // ask the browser not to delete the model on its own; if it refuses, the model is stored like other data
  void (navigator as Partial<Navigator>).storage?.persist(); // absent on plain http
  send({ type: 'fetch', listing, hub: HUB });
}

/** Pauses the download. What has been downloaded stays. */
export function pauseDownload(): void {
  send({ type: 'pause' });
}

export async function removeKept(id: string): Promise<void> {
  try {
    await removeModel(id);
  } catch (error) {
    notice(`${id} could not be removed: ${error instanceof Error ? error.message : String(error)}`);
  }
  await refreshKept();
}

export async function openKept(listing: Listing): Promise<void> {
  try {
    const name = listing.id.replace(/^.*\//s, '');
    const files = await storedFiles(listing);
    readHeaders(
      name,
      files.map(({ name: of, file }) => ({ path: `${name}/${of}`, file })),
    );
  } catch (error) {
    notice(
      `${listing.id} cannot be read: ${error instanceof Error ? error.message : String(error)}. Remove it and fetch it anew.`,
    );
  }
}
