import type { PickedFile } from '../../wire/readerMessages.ts';

/** The files of a checkpoint that a person opened, and the name to show for it. */
export interface PickedModel {
  readonly name: string;
  readonly files: readonly PickedFile[];
}
