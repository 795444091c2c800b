import type { PickedFile } from '../../wire/readerMessages.ts';

export interface PickedModel {
  readonly name: string;
  readonly files: readonly PickedFile[];
}
