import type { RunConfig } from '../config/fields.ts';
import type { Engine, MappedKnob } from '../config/mappedKnob.ts';
import type { EnvironmentFile } from '../domain/environmentFile.ts';
import type { Facts } from '../facts/facts.ts';
import type { PackedRun } from '../runs/packed.ts';
import type { BaseMark } from '../domain/baseMark.ts';
import type { MergedType } from '../domain/mergedTypes.ts';
import type { PickedFile } from './readerMessages.ts';

/** The files of a checkpoint that a person opened, and its name. */
interface OpenedFiles {
  readonly name: string;
  readonly files: readonly PickedFile[];
}

/**
 * A task about files: make a zip from a run, make a run from files, or compute a model's size. It doesn't affect the
 * current run.
 */
export type FolderTask =
  | { readonly kind: 'export'; readonly run: PackedRun }
  | {
      readonly kind: 'handover'; // a folder for an engine
      readonly run: PackedRun;
      readonly engine: Engine | null; // null: no folder, only the counterparts of the knobs
    }
  | { readonly kind: 'mark'; readonly base: OpenedFiles } // the mark that identifies a checkpoint
  | {
      readonly kind: 'weigh'; // the size of the model that a run with these knobs trains
      readonly config: RunConfig;
      readonly facts: Facts | null;
      readonly environment?: EnvironmentFile | null; // a person's own environment; its program runs
    }
  | {
      readonly kind: 'merge'; // merges a run's adapters into their checkpoint
      readonly run: PackedRun;
      readonly base: OpenedFiles;
      readonly type: MergedType; // number format of the matrices
      readonly write: boolean; // false: only compute the size
    }
  | {
      readonly kind: 'import';
      readonly name: string; // of the zip or the folder
      readonly content: Uint8Array | ReadonlyMap<string, Uint8Array>;
      readonly config: RunConfig; // names the environment for another program's model
      readonly facts: Facts | null; // the facts of that environment
      readonly environment?: EnvironmentFile | null; // the person's own environment, if it's that one; its program runs
    };

/** Another program's model, in words. */
export interface ForeignModel {
  readonly kind: string; // the Transformers class in its config.json
  readonly widened: readonly string[]; // number formats that became float32
}

/** The result of such a task. A refusal has one line for each reason. */
export type FolderAnswer =
  | { readonly kind: 'exported'; readonly zip: Uint8Array<ArrayBuffer> }
  | { readonly kind: 'marked'; readonly mark: BaseMark }
  | { readonly kind: 'weighed'; readonly parameters: number; readonly vocabulary: number } // V
  | { readonly kind: 'merged'; readonly name: string; readonly bytes: number; readonly file: Blob | null } // null: only the size was computed
  | {
      readonly kind: 'handed';
      readonly knobs: readonly MappedKnob[]; // the knobs that have an effect
      readonly zip: Uint8Array<ArrayBuffer> | null;
    }
  | {
      readonly kind: 'imported';
      readonly run: PackedRun;
      readonly parameters: number;
      readonly foreign: ForeignModel | null; // null: a run of this project, which continues bit for bit
    }
  | { readonly kind: 'refused'; readonly message: string };
