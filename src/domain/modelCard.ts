/** Bytes by purpose. */
export interface MemoryShare {
  readonly purpose: string; // as a person reads it: weights, key-value cache, …
  readonly bytes: number;
}

/** A description of another program's checkpoint, read from its headers. */
export interface ModelCard {
  readonly title: string; // of the file or folder
  readonly name: string | null; // as its files call it
  readonly license: string | null; // null: the files do not say
  readonly origin: string | null; // who made it, or where it is from, as the files say it
  readonly files: readonly { readonly name: string; readonly bytes: number }[]; // that were opened
  readonly architecture: string; // Llama, Qwen2, Qwen3
  readonly layers: number; // L
  readonly width: number; // d
  readonly heads: number; // H
  readonly kvHeads: number;
  readonly parameters: number;
  readonly weights: readonly MemoryShare[]; // bytes by how they are packed (Q4_1, F16, …), the most first
  readonly vocabulary: number; // V, rows of the embedding
  readonly tokenizer: string; // its kind, in words
  readonly tokens: number; // that the tokenizer knows
  readonly context: number | null; // tokens it was made for; null: the files do not say
  readonly template: 'none' | 'lists tools' | 'no tools'; // of chats, and whether it writes tools that it is given
  readonly remarks: readonly string[]; // sentences about tensors that were read differently than the files say, or are not needed
}

/** Lengths of text that are offered, in tokens. */
export const LENGTHS = [256, 512, 1024, 2048, 4096, 8192, 16_384, 32_768] as const;

/** The engines that can run a model to talk to. */
export type SpeakingEngine = 'gpu' | 'cpu';

/** The memory needed to open a model for texts of `length` tokens, and the memory there is. */
export interface MemoryPlan {
  readonly length: number; // most tokens of a text
  readonly engine: SpeakingEngine; // it would be opened on
  readonly engines: readonly SpeakingEngine[]; // there are here
  readonly noGpu: string; // why the GPU isn't one of them, in a sentence; '' where it is
  readonly parts: readonly MemoryShare[]; // none where it is refused
  readonly offered: string; // what there can be, in a sentence
  readonly refusal: { readonly reason: string; readonly remedy: string } | null; // why it cannot be opened so
}
