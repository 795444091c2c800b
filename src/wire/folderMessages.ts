import type { RunConfig } from '../config/fields.ts';
import type { Engine, MappedKnob } from '../config/mappedKnob.ts';
import type { EnvironmentFile } from '../domain/environmentFile.ts';
import type { Facts } from '../facts/facts.ts';
import type { PackedRun } from '../runs/packed.ts';
import type { BaseMark } from '../domain/baseMark.ts';
import type { MergedType } from '../domain/mergedTypes.ts';
import type { PickedFile } from './readerMessages.ts';

/** The files of a checkpoint that a person opened, and what people call it. */
interface GivenFiles {
  readonly name: string;
  readonly files: readonly PickedFile[];
}

/** A run to be made a zip of, a zip or a folder's files to be made a run of, or a model whose size is to be told. No run under way hears of any of them. */
export type FolderTask =
  | { readonly kind: 'export'; readonly run: PackedRun }
  | {
      readonly kind: 'handover'; // a folder for an engine
      readonly run: PackedRun;
      readonly engine: Engine | null; // null: no folder, only what becomes of the knobs
    }
  | { readonly kind: 'mark'; readonly base: GivenFiles } // by what a checkpoint is known
  | {
      readonly kind: 'weigh'; // the model that a run under these knobs trains
      readonly config: RunConfig;
      readonly facts: Facts | null;
      readonly environment?: EnvironmentFile | null; // that a person wrote; it is run
    }
  | {
      readonly kind: 'merge'; // a run beside a checkpoint as one model with that
      readonly run: PackedRun;
      readonly base: GivenFiles;
      readonly type: MergedType; // of its matrices
      readonly write: boolean; // false: only how large it would be
    }
  | {
      readonly kind: 'import';
      readonly name: string; // of the zip, or of the folder
      readonly content: Uint8Array | ReadonlyMap<string, Uint8Array>;
      readonly config: RunConfig; // the environment another program's model would begin in
      readonly facts: Facts | null; // that it would be asked about
      readonly environment?: EnvironmentFile | null; // that a person wrote, and it would begin in; it is run
    };

/** Another program's model, in words. */
export interface ForeignModel {
  readonly kind: string; // the class of Transformers that its config.json names
  readonly widened: readonly string[]; // types that became float32
}

/** What came of it; what cannot be is refused, with a line for each reason. */
export type FolderAnswer =
  | { readonly kind: 'exported'; readonly zip: Uint8Array<ArrayBuffer> }
  | { readonly kind: 'marked'; readonly mark: BaseMark }
  | { readonly kind: 'weighed'; readonly parameters: number; readonly vocabulary: number } // V
  | { readonly kind: 'merged'; readonly name: string; readonly bytes: number; readonly file: Blob | null } // null: it was only weighed
  | {
      readonly kind: 'handed';
      readonly knobs: readonly MappedKnob[]; // those that act
      readonly zip: Uint8Array<ArrayBuffer> | null;
    }
  | {
      readonly kind: 'imported';
      readonly run: PackedRun;
      readonly parameters: number;
      readonly foreign: ForeignModel | null; // null: a run of this project, bit for bit
    }
  | { readonly kind: 'refused'; readonly message: string };
