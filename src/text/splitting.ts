import { field, isRecord, shown } from '../formats/json.ts';
import { PatternError, translated } from './pattern.ts';

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

/** A split in which what matches is a piece, and what lies between matches too. Throws PatternError where the pattern is not understood. */
export function isolating(pattern: string): Split {
  const regex = translated(pattern);
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

/** The splits of a tokenizer.json's `pre_tokenizer`, one after the other; the last must be ByteLevel. Throws what `refuse` makes of any other. */
export function readSplits(entry: unknown, refuse: Refuse): readonly Split[] {
  const place = 'pre_tokenizer';
  const parts = flattened(entry, place, refuse);
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
      return flag('use_regex', true) ? [isolating(GPT2)] : [];
    case 'Digits':
      return [isolating(flag('individual_digits', false) ? String.raw`\p{N}` : String.raw`\p{N}+`)];
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
  if (typeof text === 'string' && text !== '')
    return isolating(text.replaceAll(/[\\^$.*+?()[\]{}|/]/g, String.raw`\$&`));
  if (typeof regex !== 'string' || regex === '') throw refuse(place, shown(pattern), '{"Regex": …} or {"String": …}');
  try {
    return isolating(regex);
  } catch (error) {
    if (!(error instanceof PatternError) && !(error instanceof SyntaxError)) throw error;
    throw refuse(
      place,
      `${error.message}, in ${regex}`,
      'alternatives, groups, lookahead, classes, \\p{…}, \\s, \\d and counts, whose meaning is the same everywhere',
    );
  }
}
