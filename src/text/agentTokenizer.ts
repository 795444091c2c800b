import { jsonText } from '../formats/jsonFile.ts';
import { GPT2_PATTERN, isolatingSplit } from './preTokenizer.ts';
import { BYTE_CHARACTERS, byteText } from './byteCharacters.ts';

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

/** A trained byte-level BPE. Tokens are written in byte characters (`byteCharacters.ts`). */
interface TrainedBpe {
  readonly tokens: readonly string[]; // the 256 bytes first, then merged tokens in the order in which they were made
  readonly merges: readonly (readonly [string, string])[]; // in the order in which they were found
}

interface Word {
  symbols: string[];
  readonly count: number; // how often the piece occurs
}

/**
 * Trains byte-pair encoding (Sennrich, Haddow and Birch 2016, arXiv 1508.07909) on the bytes of pieces of text. Merges
 * the most frequent pair of symbols until there are `size` tokens or no pair occurs twice. Of equally frequent pairs it
 * takes the first in alphabetical order, so that equal texts give equal tokens. Nothing is merged across the ends of
 * `pieces`.
 */
export function trainBpe(pieces: Iterable<string>, size: number): TrainedBpe {
  const words = countedWords(pieces);
  const tokens = [...BYTE_CHARACTERS];
  const knownTokens = new Set(tokens);
  const merges: (readonly [string, string])[] = [];
  while (tokens.length < size) {
    const best = mostFrequentPair(words);
    if (!best) break;
    const [left, right] = best;
    merges.push(best);
    for (const word of words) word.symbols = mergePair(word.symbols, left, right);
    const token = left + right;
    // the token may exist already, because another merge made it
    if (!knownTokens.has(token)) tokens.push(token);
    knownTokens.add(token);
  }
  return { tokens, merges };
}

function countedWords(pieces: Iterable<string>): readonly Word[] {
  const counts = new Map<string, number>();
  for (const piece of pieces) counts.set(piece, (counts.get(piece) ?? 0) + 1);
  const encoder = new TextEncoder();
  return Array.from(counts, ([piece, count]) => ({ symbols: Array.from(byteText(encoder.encode(piece))), count }));
}

/** The most frequent pair of adjacent symbols; null if no pair occurs twice. */
function mostFrequentPair(words: readonly Word[]): readonly [string, string] | null {
  // by the two symbols joined with a space, which is not a byte character
  const counts = new Map<string, number>();
  for (const { symbols, count } of words) {
    for (let i = 0; i + 1 < symbols.length; i++) {
      const pair = `${symbols[i] ?? ''} ${symbols[i + 1] ?? ''}`;
      counts.set(pair, (counts.get(pair) ?? 0) + count);
    }
  }
  let [best, bestCount] = ['', 1];
  for (const [pair, count] of counts)
    if (count > bestCount || (count === bestCount && bestCount > 1 && pair < best)) [best, bestCount] = [pair, count];
  const [left, right] = best.split(' ');
  return left === undefined || right === undefined ? null : [left, right];
}

/** Merges each occurrence of a pair in `symbols`. Returns `symbols` itself if there is none. */
function mergePair(symbols: string[], left: string, right: string): string[] {
  const out: string[] = [];
  for (let i = 0; i < symbols.length; i++) {
    const isPair = symbols[i] === left && symbols[i + 1] === right;
    out.push(isPair ? left + right : (symbols[i] ?? ''));
    if (isPair) i++;
  }
  return out.length === symbols.length ? symbols : out;
}

/**
 * chat_template.jinja of this project's own text model. It is ChatML with one line per tool in the system message,
 * observations as messages of role `tool`, and calls in `<tool_call>`. A longer conversation only appends to a shorter
 * one. A tool's line takes few tokens, because a small model has to read it in every prompt.
 */
export const AGENT_TEMPLATE = String.raw`{%- if tools %}
    {{- '<|im_start|>system\n' }}
    {%- if messages[0].role == 'system' %}
        {{- messages[0].content + '\n' }}
    {%- endif %}
    {%- for tool in tools %}
        {{- tool.function.name + '(' }}
        {%- for name, parameter in tool.function.parameters.properties.items() %}
            {{- name + ': ' + parameter.type }}
            {%- if not loop.last %}
                {{- ', ' }}
            {%- endif %}
        {%- endfor %}
        {{- '): ' + tool.function.description }}
        {%- if not loop.last %}
            {{- '\n' }}
        {%- endif %}
    {%- endfor %}
    {{- '<|im_end|>\n' }}
{%- endif %}
{%- for message in messages %}
    {%- if message.role not in ['system', 'user', 'assistant', 'tool'] %}
        {{- raise_exception('got the role ' + message.role + '; want system, user, assistant or tool') }}
    {%- endif %}
    {%- if message.role != 'system' or not tools %}
        {{- '<|im_start|>' + message.role + '\n' }}
        {{- message.content or '' }}
        {%- for tool_call in message.tool_calls or [] %}
            {%- set called = tool_call.function or tool_call %}
            {{- '<tool_call>\n{"name": "' + called.name + '", "arguments": ' }}
            {{- called.arguments | tojson }}
            {{- '}\n</tool_call>' }}
        {%- endfor %}
        {{- '<|im_end|>\n' }}
    {%- endif %}
{%- endfor %}
{%- if add_generation_prompt %}
    {{- '<|im_start|>assistant\n' }}
{%- endif %}
`;
