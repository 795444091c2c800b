/** By what a checkpoint is known again that adapters were learned beside: without it they say nothing. */
export interface BaseMark {
  readonly name: string; // of its file or folder, for people
  readonly sha256: string; // of headers and samples: finds a checkpoint in milliseconds (`baseMark`)
  readonly whole?: string; // of every byte (`wholeMark`); absent in runs that older versions saved, and where only a search asks
  readonly bytes: number; // of the files that are its model and its tokenizer
}
