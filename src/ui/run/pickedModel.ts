import type { PickedFile } from '../../wire/readerMessages.ts';

/** The files of a checkpoint that a person opened, and what people call it. */
export interface PickedModel {
  readonly name: string;
  readonly files: readonly PickedFile[];
}
