import { jsonText } from '../formats/jsonFile.ts';
import { GPT2_PATTERN, isolatingSplit } from './preTokenizer.ts';
import { trainBpe } from './trainBpe.ts';

/**
 * The added tokens of this project's own text model. They are found in text before it is split into pieces. Programs
 * that decode text leave out the special ones.
 */
const ADDED_TOKENS = [
  { content: '<|endoftext|>', special: true },
  { content: '<|im_start|>', special: true },
  { content: '<|im_end|>', special: true },
  { content: '<tool_call>', special: false },
  { content: '</tool_call>', special: false },
] as const;

/** The id of an added token: its index, because added tokens have the first ids. */
export function addedTokenId(content: (typeof ADDED_TOKENS)[number]['content']): number {
  return ADDED_TOKENS.findIndex((token) => token.content === content);
}

/** The ids that end a turn. */
export const AGENT_STOPS: readonly number[] = [addedTokenId('<|im_end|>'), addedTokenId('<|endoftext|>')];

/**
 * Trains a byte-level BPE tokenizer with at most `size` tokens and returns its tokenizer.json. Text is split into
 * single digits and then by GPT-2's pattern. No merge crosses an added token. Without texts the vocabulary has only the
 * 256 bytes and the added tokens.
 */
export function agentTokenizer(texts: readonly string[], size: number): string {
  const splitDigits = isolatingSplit(String.raw`\p{N}`);
  const splitWords = isolatingSplit(GPT2_PATTERN);
  const splitAddedTokens = isolatingSplit(
    ADDED_TOKENS.map(({ content }) => content.replaceAll(/[|/]/g, String.raw`\$&`)).join('|'),
  );
  const contents = new Set<string>(ADDED_TOKENS.map(({ content }) => content));
  const pieces = texts
    .flatMap((text) => splitAddedTokens(text).filter((part) => !contents.has(part)))
    .flatMap((part) => splitDigits(part).flatMap(splitWords));
  const { tokens, merges } = trainBpe(pieces, size - ADDED_TOKENS.length);
  const vocab = [...ADDED_TOKENS.map(({ content }) => content), ...tokens];
  return jsonText({
    version: '1.0',
    truncation: null,
    padding: null,
    added_tokens: ADDED_TOKENS.map(({ content, special }, id) => ({
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
