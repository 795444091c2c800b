/** A fingerprint of the checkpoint that a run trained adapters for. The adapters are useless with any other checkpoint. */
export interface BaseMark {
  readonly name: string; // name of its file or folder, for people
  /** Hash of headers and samples, computed in milliseconds; enough to find a checkpoint (`quickMark`). */
  readonly sha256: string;
  /** Hash of every byte; absent in runs saved by older versions, and in a mark made for a search. */
  readonly whole?: string;
  readonly bytes: number; // total size of the model's and tokenizer's files
}
