/** By what a checkpoint is known again that adapters were learned beside: without it they say nothing. */
export interface BaseMark {
  readonly name: string; // of its file or folder, for people
  readonly sha256: string; // see `baseMark`
  readonly bytes: number; // of the files that are its model and its tokenizer
}
