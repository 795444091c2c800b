import type { EnvironmentFile } from '../domain/environmentFile.ts';
import type { Examination, Reading } from './examination.ts';

/** A request from the page to the worker that checks an environment's file. */
export type ExaminerCommand =
  | { readonly type: 'read'; readonly file: EnvironmentFile } // does not run the file
  | {
      readonly type: 'check';
      readonly file: EnvironmentFile;
      readonly episodes: number;
      readonly seed: number;
      readonly exports: boolean; // true: if there is no fault, also write the environment for other frameworks
    }
  | { readonly type: 'export'; readonly file: EnvironmentFile; readonly examination: Examination }; // of a checked file

/** A message from the worker. While it checks, it reports progress many times a second. */
export type ExaminerEvent =
  | { readonly type: 'here' } // the worker's code is loaded
  | { readonly type: 'read'; readonly reading: Reading }
  | { readonly type: 'progress'; readonly share: number }
  | {
      readonly type: 'checked';
      readonly examination: Examination;
      readonly zip: Uint8Array<ArrayBuffer> | null; // null: no export was requested, or the file has a fault
    }
  | { readonly type: 'failed'; readonly message: string };
