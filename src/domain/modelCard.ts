import type { FieldName } from '../config/fields.ts';

export interface MemoryShare {
  readonly purpose: string; // in words for people: weights, key-value cache, …
  readonly bytes: number;
}

/** A description of another program's checkpoint, read from its headers. */
export interface ModelCard {
  readonly title: string; // name of the file or folder
  readonly name: string | null; // the name given in the files; null: they have none
  readonly license: string | null; // null: the files don't say
  readonly origin: string | null; // its author or source, as given in the files; null: they don't say
  readonly files: readonly { readonly name: string; readonly bytes: number }[]; // the opened files
  readonly architecture: string; // Llama, Qwen2, Qwen3
  readonly layers: number; // L
  readonly width: number; // d
  readonly heads: number; // H
  readonly kvHeads: number;
  readonly parameters: number;
  readonly weights: readonly MemoryShare[]; // bytes by number format (Q4_1, F16, …), largest first
  readonly vocabulary: number; // V, rows of the embedding
  readonly tokenizer: string; // its kind, in words
  readonly tokens: number; // number of tokens that the tokenizer knows
  readonly context: number | null; // longest text that it was made for, in tokens; null: the files don't say
  /** Its chat template, and whether that lists the tools it is given. */
  readonly template: 'none' | 'lists tools' | 'no tools';
  /** Sentences about tensors that aren't needed or were read differently than the files say. */
  readonly remarks: readonly string[];
}

/** Text lengths that a person can choose, in tokens. */
export const LENGTHS = [256, 512, 1024, 2048, 4096, 8192, 16_384, 32_768] as const;

/** The engines that can run a model to talk to. */
export type SpeakingEngine = 'gpu' | 'cpu';

/** The memory needed to open a model for texts of `length` tokens, and the memory there is. */
export interface MemoryPlan {
  readonly length: number; // largest number of tokens in a text
  readonly engine: SpeakingEngine; // the engine that would run the model
  readonly engines: readonly SpeakingEngine[]; // available on this machine
  readonly whyNoGpu: string; // why no GPU can be used, in a sentence; '' if one can
  readonly parts: readonly MemoryShare[]; // empty if the model is refused
  readonly availableText: string; // how much memory there is, in a sentence
  /** Why it can't be opened in this way; null if it can. */
  readonly refusal: { readonly reason: string; readonly remedy: string } | null;
}

/** A value of one knob with which a run fits, while all other knobs stay as they are. */
export interface FittingKnob {
  readonly field: FieldName;
  readonly value: number;
  readonly bytes: number; // memory of the run with this value
}

/** The memory that a run needs for training adapters of a checkpoint, and the memory there is. */
export interface TrainingPlan {
  readonly engine: SpeakingEngine; // the engine that would train
  readonly parts: readonly MemoryShare[];
  readonly bytes: number; // sum of the parts
  readonly maxBytes: number | null; // largest number of bytes available; null: the run fits, and the limit is unknown
  readonly fitting: readonly FittingKnob[]; // if the run doesn't fit: single changes that make it fit, if there are any
}

/** Whether a run needs more memory than there is. */
export const isTooLarge = ({ bytes, maxBytes }: Pick<TrainingPlan, 'bytes' | 'maxBytes'>): boolean =>
  maxBytes !== null && bytes > maxBytes;
