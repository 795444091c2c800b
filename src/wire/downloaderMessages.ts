import type { Listing } from '../hub/listing.ts';

/** What the page asks of the worker that fetches models. */
export type DownloaderCommand =
  | { readonly type: 'list'; readonly id: string; readonly hub: string } // what it would be
  | { readonly type: 'fetch'; readonly listing: Listing; readonly hub: string } // or the rest of it
  | { readonly type: 'pause' };

/** What that worker tells, of the model that was asked for last. */
export type DownloaderEvent =
  | { readonly type: 'listed'; readonly listing: Listing }
  | {
      readonly type: 'fetched';
      readonly id: string;
      readonly bytes: number;
      readonly of: number;
      readonly name: string;
    }
  | { readonly type: 'complete'; readonly id: string }
  | { readonly type: 'held'; readonly id: string } // paused: what is there stays
  | { readonly type: 'failed'; readonly id: string; readonly message: string };
