import { field, isRecord, valueText } from '../base/jsonRecord.ts';
import { translatePattern } from './tokenizerPattern.ts';

/** Splits a text into pieces. Joined, the pieces are the text. */
export type Split = (text: string) => readonly string[];

/** Makes the error for a part of a file that can't be used. */
export type Refuse = (place: string, got: string, want: string) => Error;

/**
 * GPT-2's pattern (openai/gpt-2 `src/encoder.py`). A ByteLevel pre-tokenizer splits by it unless `use_regex` is false.
 */
export const GPT2_PATTERN = String.raw`'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+`;
const QWEN_PATTERN = String.raw`(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+`;
const LLAMA3_PATTERN = String.raw`(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+`;

/**
 * The ways of splitting text, by their names in `tokenizer.ggml.pre` of a GGUF file. Patterns are from llama.cpp
 * `src/llama-vocab.cpp`, normalization from the tokenizer.json of the checkpoints.
 */
export const GGUF_SPLITS: Readonly<
  Record<string, { readonly patterns: readonly string[]; readonly nfc: boolean; readonly ignoreMerges: boolean }>
> = {
  'gpt-2': { patterns: [GPT2_PATTERN], nfc: false, ignoreMerges: false },
  smollm: { patterns: [String.raw`\p{N}`, GPT2_PATTERN], nfc: false, ignoreMerges: false },
  qwen2: { patterns: [QWEN_PATTERN], nfc: true, ignoreMerges: false },
  'llama-bpe': { patterns: [LLAMA3_PATTERN], nfc: false, ignoreMerges: true },
};

/**
 * Makes a split by a pattern: each match and each text between matches is a piece. A pattern can take time that grows
 * exponentially with the text, so only a worker that can be ended may run one of an unknown file. Throws SyntaxError if
 * the pattern is not supported.
 */
export function isolatingSplit(pattern: string): Split {
  const regex = translatePattern(pattern);
  return (text) => {
    const pieces: string[] = [];
    let end = 0;
    for (const { 0: match, index } of text.matchAll(regex)) {
      if (match === '') continue;
      if (index > end) pieces.push(text.slice(end, index));
      pieces.push(match);
      end = index + match.length;
    }
    if (end < text.length) pieces.push(text.slice(end));
    return pieces;
  };
}

/**
 * Reads the splits of a tokenizer.json's `pre_tokenizer`, in the order in which they apply. The last part must be
 * ByteLevel. Throws the error of `refuse` if it is anything else.
 */
export function readSplits(entry: unknown, refuse: Refuse): readonly Split[] {
  const place = 'pre_tokenizer';
  const parts = flattenParts(entry, place, refuse);
  const byteLevelIndex = parts.findIndex(({ type }) => type === 'ByteLevel');
  if (byteLevelIndex < 0)
    throw refuse(place, parts.map(({ type }) => type).join(', ') || valueText(entry), 'ByteLevel as its last part');
  const after = parts[byteLevelIndex + 1];
  if (after) throw refuse(after.place, `${after.type} after ByteLevel`, 'ByteLevel last');
  return parts.flatMap((part) => splitsOfPart(part, refuse));
}

interface PreTokenizerPart {
  readonly type: string;
  readonly place: string;
  readonly entry: Readonly<Record<string, unknown>>;
}

/** The parts of nested sequences as one list. */
function flattenParts(entry: unknown, place: string, refuse: Refuse): readonly PreTokenizerPart[] {
  const type = isRecord(entry) ? field(entry, 'type') : undefined;
  if (!isRecord(entry) || typeof type !== 'string') throw refuse(place, valueText(entry), 'an object with a type');
  if (type !== 'Sequence') return [{ type, place, entry }];
  const list = field(entry, 'pretokenizers');
  if (!Array.isArray(list)) throw refuse(`${place}.pretokenizers`, valueText(list), 'a list of pre-tokenizers');
  return list.flatMap((part: unknown, i) => flattenParts(part, `${place}.pretokenizers, ${i}`, refuse));
}

function splitsOfPart({ type, place, entry }: PreTokenizerPart, refuse: Refuse): readonly Split[] {
  const flag = (name: string, byDefault: boolean) => {
    const value = field(entry, name) ?? byDefault;
    if (typeof value !== 'boolean') throw refuse(`${place}.${name}`, valueText(value), 'true or false');
    return value;
  };
  switch (type) {
    case 'ByteLevel':
      if (flag('add_prefix_space', true)) throw refuse(`${place}.add_prefix_space`, 'true', 'false: text as it is');
      return flag('use_regex', true) ? [isolatingSplit(GPT2_PATTERN)] : [];
    case 'Digits':
      return [isolatingSplit(flag('individual_digits', false) ? String.raw`\p{N}` : String.raw`\p{N}+`)];
    case 'Split': {
      const behavior = field(entry, 'behavior');
      if (behavior !== 'Isolated') throw refuse(`${place}.behavior`, valueText(behavior), 'Isolated');
      if (flag('invert', false)) throw refuse(`${place}.invert`, 'true', 'false');
      return [patternSplit(field(entry, 'pattern'), `${place}.pattern`, refuse)];
    }
  }
  throw refuse(place, type, 'ByteLevel, Digits, Split or a Sequence of them');
}

function patternSplit(pattern: unknown, place: string, refuse: Refuse): Split {
  const [regex, text] = isRecord(pattern) ? [field(pattern, 'Regex'), field(pattern, 'String')] : [];
  const source = typeof text === 'string' ? text.replaceAll(/[\\^$.*+?()[\]{}|/]/g, String.raw`\$&`) : regex;
  if (typeof source !== 'string' || source === '')
    throw refuse(place, valueText(pattern), '{"Regex": …} or {"String": …}');
  try {
    return isolatingSplit(source);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    throw refuse(
      place,
      `${error.message}, in ${source}`,
      'alternatives, groups, lookahead, classes, \\p{…}, \\s, \\d and counts, which all programs read alike',
    );
  }
}
