import { field, isRecord, valueText } from '../base/jsonRecord.ts';
import { linearPattern } from './linearPattern.ts';
import { translatePattern } from './tokenizerPattern.ts';

/** Splits a text into pieces. Joined, the pieces are the text. */
export type Split = (text: string) => readonly string[];

/** Makes the error for a part of a file that can't be used. */
export type Refuse = (place: string, got: string, want: string) => Error;

/**
 * GPT-2's pattern (openai/gpt-2 `src/encoder.py`). A ByteLevel pre-tokenizer splits by it unless `use_regex` is false.
 */
export const GPT2_PATTERN = String.raw`'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+`;
/** The pattern of Qwen 2 and Qwen 3. */
const QWEN_PATTERN = String.raw`(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+`;
/** Llama 3's pattern. */
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
 * Patterns that JavaScript's engine is known to match in linear time. It takes a tenth of the time of `linearPattern`.
 */
const NATIVE_PATTERNS: ReadonlySet<string> = new Set([
  GPT2_PATTERN,
  QWEN_PATTERN,
  LLAMA3_PATTERN,
  String.raw`\p{N}`,
  String.raw`\p{N}+`,
]);
const MAX_PATTERN_LENGTH = 4096; // characters

/**
 * Makes a split by a pattern: each match and each text between matches is a piece. It takes time linear in the text.
 * Throws SyntaxError if the pattern is not supported, and RangeError if it would take too much memory. The split may
 * throw RangeError too.
 */
export function isolatingSplit(pattern: string): Split {
  if (pattern.length > MAX_PATTERN_LENGTH) throw new RangeError(`a pattern of ${pattern.length} characters`);
  const regex = translatePattern(pattern);
  const find = NATIVE_PATTERNS.has(pattern) ? nativePattern(regex) : linearPattern(regex.source);
  return (text) => {
    const pieces: string[] = [];
    let end = 0;
    for (let match = find(text, 0); match;) {
      const [begin, after] = match;
      if (after > begin) {
        if (begin > end) pieces.push(text.slice(end, begin));
        pieces.push(text.slice(begin, after));
        end = after;
      }
      const nextStart = after > begin ? after : after + ((text.codePointAt(after) ?? 0) > 0xffff ? 2 : 1);
      match = nextStart > text.length ? null : find(text, nextStart);
    }
    if (end < text.length) pieces.push(text.slice(end));
    return pieces;
  };
}

function nativePattern(regex: RegExp): ReturnType<typeof linearPattern> {
  return (text, from) => {
    regex.lastIndex = from;
    const match = regex.exec(text);
    return match && [match.index, match.index + match[0].length];
  };
}

/** Maximum number of parts of a pre-tokenizer. Published ones have up to six. */
const MAX_PARTS = 16;

/**
 * Reads the splits of a tokenizer.json's `pre_tokenizer`, in the order in which they apply. The last part must be
 * ByteLevel. Throws the error of `refuse` if it is anything else.
 */
export function readSplits(entry: unknown, refuse: Refuse): readonly Split[] {
  const place = 'pre_tokenizer';
  const parts = flattenParts(entry, place, refuse);
  if (parts.length > MAX_PARTS) throw refuse(place, `${parts.length} parts`, `at most ${MAX_PARTS}`);
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
function flattenParts(entry: unknown, place: string, refuse: Refuse, depth = 0): readonly PreTokenizerPart[] {
  const type = isRecord(entry) ? field(entry, 'type') : undefined;
  if (!isRecord(entry) || typeof type !== 'string') throw refuse(place, valueText(entry), 'an object with a type');
  if (type !== 'Sequence') return [{ type, place, entry }];
  const list = field(entry, 'pretokenizers');
  if (!Array.isArray(list) || depth > 3)
    throw refuse(`${place}.pretokenizers`, valueText(list), 'a list of pre-tokenizers');
  if (list.length > MAX_PARTS) throw refuse(place, `${list.length} parts`, `at most ${MAX_PARTS}`);
  return list.flatMap((part: unknown, i) => flattenParts(part, `${place}.pretokenizers, ${i}`, refuse, depth + 1));
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
    if (error instanceof RangeError)
      throw refuse(place, error.message, 'a pattern no larger than in published tokenizers');
    if (!(error instanceof SyntaxError)) throw error;
    throw refuse(
      place,
      `${error.message}, in ${source}`,
      'alternatives, groups, lookahead, classes, \\p{…}, \\s, \\d and counts, which all programs read alike',
    );
  }
}
