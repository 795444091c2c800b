import { field, isRecord, shown } from '../formats/jsonFile.ts';
import { linearPattern } from './linearPattern.ts';
import { translatePattern } from './tokenizerPattern.ts';

/** Cuts a text into pieces; together they are the text. */
export type Split = (text: string) => readonly string[];

/** What is wrong with a part of a file. */
export type Refuse = (place: string, got: string, want: string) => Error;

/** GPT-2's pattern (openai/gpt-2 `src/encoder.py`), which a ByteLevel pre-tokenizer runs unless told not to. */
export const GPT2 = String.raw`'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+`;
/** Qwen's pattern, of its second and third generation. */
const QWEN = String.raw`(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+`;
/** Llama 3's pattern. */
const LLAMA3 = String.raw`(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+`;

/** How a GGUF's `tokenizer.ggml.pre` cuts, by its name (llama.cpp `src/llama-vocab.cpp`; normalization as the checkpoints' own tokenizer.json has it). */
export const NAMED: Readonly<
  Record<string, { readonly patterns: readonly string[]; readonly nfc: boolean; readonly wholeWords: boolean }>
> = {
  'gpt-2': { patterns: [GPT2], nfc: false, wholeWords: false },
  smollm: { patterns: [String.raw`\p{N}`, GPT2], nfc: false, wholeWords: false },
  qwen2: { patterns: [QWEN], nfc: true, wholeWords: false },
  'llama-bpe': { patterns: [LLAMA3], nfc: false, wholeWords: true },
};

/** Patterns that JavaScript's own engine is known to run in linear time; it takes a tenth of the time of ours. */
const NATIVE: ReadonlySet<string> = new Set([GPT2, QWEN, LLAMA3, String.raw`\p{N}`, String.raw`\p{N}+`]);
const MOST_LETTERS = 4096; // of a pattern

/**
 * A split in which what matches is a piece, and what lies between matches too, in time linear in the text. Throws SyntaxError where the pattern is
 * not understood, RangeError where it would take too much memory; so may the split.
 */
export function isolatingSplit(pattern: string): Split {
  if (pattern.length > MOST_LETTERS) throw new RangeError(`a pattern of ${pattern.length} letters`);
  const regex = translatePattern(pattern);
  const find = NATIVE.has(pattern) ? nativePattern(regex) : linearPattern(regex.source);
  return (text) => {
    const pieces: string[] = [];
    let end = 0;
    for (let found = find(text, 0); found;) {
      const [begin, after] = found;
      if (after > begin) {
        if (begin > end) pieces.push(text.slice(end, begin));
        pieces.push(text.slice(begin, after));
        end = after;
      }
      const next = after > begin ? after : after + ((text.codePointAt(after) ?? 0) > 0xffff ? 2 : 1);
      found = next > text.length ? null : find(text, next);
    }
    if (end < text.length) pieces.push(text.slice(end));
    return pieces;
  };
}

function nativePattern(regex: RegExp): ReturnType<typeof linearPattern> {
  return (text, from) => {
    regex.lastIndex = from;
    const found = regex.exec(text);
    return found && [found.index, found.index + found[0].length];
  };
}

/** Parts of a pre-tokenizer; published ones have up to six. */
const MOST_PARTS = 16;

/** The splits of a tokenizer.json's `pre_tokenizer`, one after the other; the last must be ByteLevel. Throws what `refuse` makes of any other. */
export function readSplits(entry: unknown, refuse: Refuse): readonly Split[] {
  const place = 'pre_tokenizer';
  const parts = flattened(entry, place, refuse);
  if (parts.length > MOST_PARTS) throw refuse(place, `${parts.length} parts`, `at most ${MOST_PARTS}`);
  const bytes = parts.findIndex(({ type }) => type === 'ByteLevel');
  if (bytes < 0)
    throw refuse(place, parts.map(({ type }) => type).join(', ') || shown(entry), 'ByteLevel as its last part');
  const after = parts[bytes + 1];
  if (after) throw refuse(after.place, `${after.type} after ByteLevel`, 'ByteLevel last');
  return parts.flatMap((part) => splitOf(part, refuse));
}

interface Part {
  readonly type: string;
  readonly place: string;
  readonly entry: Readonly<Record<string, unknown>>;
}

/** Sequences, one in the other, as a list. */
function flattened(entry: unknown, place: string, refuse: Refuse, depth = 0): readonly Part[] {
  const type = isRecord(entry) ? field(entry, 'type') : undefined;
  if (!isRecord(entry) || typeof type !== 'string') throw refuse(place, shown(entry), 'an object with a type');
  if (type !== 'Sequence') return [{ type, place, entry }];
  const list = field(entry, 'pretokenizers');
  if (!Array.isArray(list) || depth > 3)
    throw refuse(`${place}.pretokenizers`, shown(list), 'a list of pre-tokenizers');
  if (list.length > MOST_PARTS) throw refuse(place, `${list.length} parts`, `at most ${MOST_PARTS}`);
  return list.flatMap((part: unknown, i) => flattened(part, `${place}.pretokenizers, ${i}`, refuse, depth + 1));
}

function splitOf({ type, place, entry }: Part, refuse: Refuse): readonly Split[] {
  const flag = (name: string, usual: boolean) => {
    const value = field(entry, name) ?? usual;
    if (typeof value !== 'boolean') throw refuse(`${place}.${name}`, shown(value), 'true or false');
    return value;
  };
  switch (type) {
    case 'ByteLevel':
      if (flag('add_prefix_space', true)) throw refuse(`${place}.add_prefix_space`, 'true', 'false: text as it is');
      return flag('use_regex', true) ? [isolatingSplit(GPT2)] : [];
    case 'Digits':
      return [isolatingSplit(flag('individual_digits', false) ? String.raw`\p{N}` : String.raw`\p{N}+`)];
    case 'Split': {
      const behavior = field(entry, 'behavior');
      if (behavior !== 'Isolated') throw refuse(`${place}.behavior`, shown(behavior), 'Isolated');
      if (flag('invert', false)) throw refuse(`${place}.invert`, 'true', 'false');
      return [patternSplit(field(entry, 'pattern'), `${place}.pattern`, refuse)];
    }
  }
  throw refuse(place, type, 'ByteLevel, Digits, Split or a Sequence of them');
}

function patternSplit(pattern: unknown, place: string, refuse: Refuse): Split {
  const [regex, text] = isRecord(pattern) ? [field(pattern, 'Regex'), field(pattern, 'String')] : [];
  const source = typeof text === 'string' ? text.replaceAll(/[\\^$.*+?()[\]{}|/]/g, String.raw`\$&`) : regex;
  if (typeof source !== 'string' || source === '') throw refuse(place, shown(pattern), '{"Regex": …} or {"String": …}');
  try {
    return isolatingSplit(source);
  } catch (error) {
    if (error instanceof RangeError) throw refuse(place, error.message, 'a pattern as published tokenizers have');
    if (!(error instanceof SyntaxError)) throw error;
    throw refuse(
      place,
      `${error.message}, in ${source}`,
      'alternatives, groups, lookahead, classes, \\p{…}, \\s, \\d and counts, whose meaning is the same everywhere',
    );
  }
}
