import type { Listing } from '../hub/listing.ts';

/** Commands of the page to the worker that downloads models. */
export type DownloaderCommand =
  | { readonly type: 'list'; readonly id: string; readonly hub: string } // asks for the list of a model's files
  // downloads the files, or what is missing of them
  | { readonly type: 'fetch'; readonly listing: Listing; readonly hub: string }
  | { readonly type: 'pause' };

/** Events of that worker, about the model of the last command. */
export type DownloaderEvent =
  | { readonly type: 'listed'; readonly listing: Listing }
  | {
      readonly type: 'fetched';
      readonly id: string;
      readonly bytes: number;
      readonly totalBytes: number;
      readonly name: string;
    }
  | { readonly type: 'complete'; readonly id: string }
  | { readonly type: 'held'; readonly id: string } // paused; the downloaded part is kept
  | { readonly type: 'failed'; readonly id: string; readonly message: string };
