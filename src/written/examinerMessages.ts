import type { EnvironmentFile } from '../domain/environmentFile.ts';
import type { Examination, Reading } from './examination.ts';

/** What the page asks of the worker that examines an environment's file. */
export type ExaminerCommand =
  | { readonly type: 'read'; readonly file: EnvironmentFile } // nothing of it runs
  | {
      readonly type: 'check';
      readonly file: EnvironmentFile;
      readonly episodes: number;
      readonly seed: number;
      readonly exports: boolean; // also writes it for other frameworks, where no fault is found
    };

/** What it answers. While it checks it says how far it is, many times a second. */
export type ExaminerEvent =
  | { readonly type: 'here' } // its code is loaded
  | { readonly type: 'read'; readonly reading: Reading }
  | { readonly type: 'progress'; readonly share: number }
  | {
      readonly type: 'checked';
      readonly examination: Examination;
      readonly zip: Uint8Array<ArrayBuffer> | null; // null: none was asked for, or it has a fault
    }
  | { readonly type: 'failed'; readonly message: string };
