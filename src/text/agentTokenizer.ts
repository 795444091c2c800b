import { jsonText } from '../formats/jsonFile.ts';
import { GPT2, isolatingSplit } from './preTokenizer.ts';
import { trainBpe } from './trainBpe.ts';

/**
 * The added tokens of this project's own text model. They are found in text before it is split into pieces. Programs
 * that decode text leave out the special ones.
 */
const ADDED = [
  { content: '<|endoftext|>', special: true },
  { content: '<|im_start|>', special: true },
  { content: '<|im_end|>', special: true },
  { content: '<tool_call>', special: false },
  { content: '</tool_call>', special: false },
] as const;

/** The id of an added token: its index, because added tokens have the first ids. */
export function addedId(content: (typeof ADDED)[number]['content']): number {
  return ADDED.findIndex((token) => token.content === content);
}

/** The ids that end a turn. */
export const AGENT_STOPS: readonly number[] = [addedId('<|im_end|>'), addedId('<|endoftext|>')];

/**
 * Trains a byte-level BPE tokenizer with at most `size` tokens and returns its tokenizer.json. Text is split into
 * single digits and then by GPT-2's pattern. No merge crosses an added token. Without texts the vocabulary has only the
 * 256 bytes and the added tokens.
 */
export function agentTokenizer(texts: readonly string[], size: number): string {
  const digits = isolatingSplit(String.raw`\p{N}`);
  const words = isolatingSplit(GPT2);
  const added = isolatingSplit(ADDED.map(({ content }) => content.replaceAll(/[|/]/g, String.raw`\$&`)).join('|'));
  const contents = new Set<string>(ADDED.map(({ content }) => content));
  const pieces = texts
    .flatMap((text) => added(text).filter((part) => !contents.has(part)))
    .flatMap((part) => digits(part).flatMap(words));
  const { tokens, merges } = trainBpe(pieces, size - ADDED.length);
  const vocab = [...ADDED.map(({ content }) => content), ...tokens];
  return jsonText({
    version: '1.0',
    truncation: null,
    padding: null,
    added_tokens: ADDED.map(({ content, special }, id) => ({
      ...{ id, content, single_word: false, lstrip: false, rstrip: false, normalized: false, special },
    })),
    normalizer: null,
    pre_tokenizer: {
      type: 'Sequence',
      pretokenizers: [
        { type: 'Digits', individual_digits: true },
        { type: 'ByteLevel', add_prefix_space: false, trim_offsets: true, use_regex: true },
      ],
    },
    post_processor: null, // the chat template writes all special tokens
    decoder: { type: 'ByteLevel', add_prefix_space: true, trim_offsets: true, use_regex: true },
    model: {
      ...{ type: 'BPE', dropout: null, unk_token: null, continuing_subword_prefix: null, end_of_word_suffix: null },
      ...{ fuse_unk: false, byte_fallback: false, ignore_merges: false },
      vocab: Object.fromEntries(vocab.map((token, id) => [token, id])),
      merges,
    },
  });
}
