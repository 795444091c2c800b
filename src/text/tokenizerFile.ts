import { field, isRecord, type JsonRecord, valueText } from '../base/jsonRecord.ts';
import { readJson } from '../formats/jsonFile.ts';
import { ProblemError } from '../base/problem.ts';
import { type AddedToken, bpeCodec } from './bpeCodec.ts';
import type { Codec } from './codec.ts';
import { type Refuse, readSplits } from './preTokenizer.ts';
import { readWordLevel } from './wordLevel.ts';
import { wordCodec } from './wordCodec.ts';

const REMEDY = 'Choose a checkpoint with a byte-level BPE tokenizer (Llama 3, SmolLM, Qwen) or one of this project.';

/** An added token without its id, which follows from the vocabulary. */
export type SideToken = Omit<AddedToken, 'id'>;

/** What the files beside tokenizer.json, here called side files, specify about a tokenizer. */
export interface SideSettings {
  readonly file?: string; // name of the tokenizer's file for error messages; tokenizer.json by default
  readonly stops?: readonly number[]; // eos_token_id of generation_config.json
  readonly added?: readonly SideToken[]; // added tokens of side files; they follow those of tokenizer.json
  readonly rows?: number; // rows of the embedding; tokens of side files whose ids exceed them are left out
  readonly splitsSpecial?: boolean; // true: a special token that is written out in a text is encoded as ordinary text
}

/** A parsed tokenizer.json. Its codec may also depend on side files. */
export interface OpenedTokenizer {
  readonly padToken: string | null; // `pad_token` of its padding
  readonly codecWith: (sides: Omit<SideSettings, 'file'>) => Codec;
}

/**
 * The codec of a tokenizer.json (https://github.com/huggingface/tokenizers): byte-level BPE, or WordLevel as this
 * project writes it. Supports every part of the file that affects ids exactly, or throws ProblemError with the place.
 * Ignores truncation, padding and the post-processor, because a chat template writes the model's whole input.
 */
export function codecFromTokenizerJson(bytes: Uint8Array, { file, ...sides }: SideSettings = {}): Codec {
  return openTokenizerJson(bytes, file).codecWith(sides);
}

/**
 * Parses a tokenizer.json; `codecWith` then makes the codec. There are two steps because reading the side files needs
 * `padToken`. Both throw ProblemError.
 */
export function openTokenizerJson(bytes: Uint8Array, file = 'tokenizer.json'): OpenedTokenizer {
  const refuse: Refuse = (place, got, want) => new ProblemError([{ file, place, got, want, remedy: REMEDY }]);
  const tokenizer = readJson(file, bytes);
  if (!isRecord(tokenizer)) throw refuse('', valueText(tokenizer), 'an object');
  const padding = field(tokenizer, 'padding');
  const pad = isRecord(padding) ? field(padding, 'pad_token') : null;
  return {
    padToken: typeof pad === 'string' && pad !== '' ? pad : null,
    codecWith: (sides) => codecOf(tokenizer, file, sides, refuse),
  };
}

function codecOf(
  tokenizer: JsonRecord,
  file: string,
  { stops = [], added: sides = [], splitsSpecial = false, rows = MAX_IDS }: SideSettings,
  refuse: Refuse,
): Codec {
  const model = field(tokenizer, 'model');
  const type = isRecord(model) ? field(model, 'type') : undefined;
  if (!isRecord(model)) throw refuse('model', valueText(model), 'an object');
  if (type === 'WordLevel') return wordCodec(readWordLevel(tokenizer, file), stops);
  if (type !== 'BPE') throw refuse('model.type', valueText(type), 'BPE or WordLevel');
  const decoder = field(tokenizer, 'decoder');
  const decoderType = isRecord(decoder) ? field(decoder, 'type') : decoder;
  if (decoderType !== 'ByteLevel') throw refuse('decoder', valueText(decoderType), 'ByteLevel');
  const splits = readSplits(field(tokenizer, 'pre_tokenizer'), refuse);
  const nfc = readNormalizer(field(tokenizer, 'normalizer') ?? null, refuse);
  const tokens = readVocabulary(field(model, 'vocab'), refuse);
  const fileTokens = readAddedTokens(field(tokenizer, 'added_tokens') ?? [], refuse);
  const fileContents = new Set(fileTokens.map(({ content }) => content));
  const added = withIds(tokens, [...fileTokens, ...sides]).filter(
    ({ content, id }) => id < rows || fileContents.has(content),
  );
  const vocabulary = { file, tokens, merges: readMerges(field(model, 'merges'), refuse), added, nfc, splits, stops };
  const unknown = readUnknown(model, tokens, refuse);
  return bpeCodec({
    ...vocabulary,
    specialAsText: splitsSpecial,
    ignoreMerges: readIgnoreMerges(model, refuse),
    unknownId: unknown,
  });
}

/**
 * Gives added tokens the ids that the `tokenizers` library gives them, which ignores the ids in the file: the id in the
 * vocabulary, or else the next free id in order of appearance. If two tokens have the same text, the later one's
 * properties count.
 */
function withIds(tokens: ReadonlyMap<string, number>, added: readonly SideToken[]): readonly AddedToken[] {
  const byContent = new Map<string, AddedToken>();
  let next = tokens.size;
  for (const token of added) {
    const id = byContent.get(token.content)?.id ?? tokens.get(token.content) ?? next++;
    byContent.set(token.content, { ...token, id });
  }
  return [...byContent.values()];
}

/** Reads the normalizer: true for NFC, false for none. A Sequence is NFC if any of its parts is. */
function readNormalizer(entry: unknown, refuse: Refuse, place = 'normalizer'): boolean {
  if (entry === null) return false;
  const type = isRecord(entry) ? field(entry, 'type') : undefined;
  if (type === 'NFC') return true;
  const parts = isRecord(entry) && type === 'Sequence' ? field(entry, 'normalizers') : undefined;
  if (!Array.isArray(parts)) throw refuse(place, valueText(type ?? entry), 'NFC, a Sequence of it, or null');
  return parts.map((part: unknown, i) => readNormalizer(part, refuse, `${place}.normalizers, ${i}`)).some((nfc) => nfc);
}

/**
 * Reads `ignore_merges`: whether a piece that is a token becomes that token without merges. Throws on unsupported
 * options of BPE.
 */
function readIgnoreMerges(model: JsonRecord, refuse: Refuse): boolean {
  for (const name of ['dropout', 'continuing_subword_prefix', 'end_of_word_suffix']) {
    const value = field(model, name) ?? null;
    if (value !== null && value !== '' && value !== 0) throw refuse(`model.${name}`, valueText(value), 'null');
  }
  const byteFallback = field(model, 'byte_fallback') ?? false;
  if (byteFallback !== false)
    throw refuse('model.byte_fallback', valueText(byteFallback), 'false: every byte has a token');
  const ignoreMerges = field(model, 'ignore_merges') ?? false;
  if (typeof ignoreMerges !== 'boolean') throw refuse('model.ignore_merges', valueText(ignoreMerges), 'true or false');
  return ignoreMerges;
}

/** The id for bytes that have no token; null if such bytes are left out. */
function readUnknown(model: JsonRecord, tokens: ReadonlyMap<string, number>, refuse: Refuse): number | null {
  const unknown = field(model, 'unk_token') ?? null;
  if (unknown === null) return null;
  const id = typeof unknown === 'string' ? tokens.get(unknown) : undefined;
  if (id === undefined) throw refuse('model.unk_token', valueText(unknown), 'a token of the vocabulary, or null');
  if (field(model, 'fuse_unk') === true) throw refuse('model.fuse_unk', 'true', 'false');
  return id;
}

function readVocabulary(entry: unknown, refuse: Refuse): ReadonlyMap<string, number> {
  if (!isRecord(entry)) throw refuse('model.vocab', valueText(entry), 'ids by token');
  const tokens = new Map<string, number>();
  for (const [token, id] of Object.entries(entry)) {
    if (!isId(id)) throw refuse(`model.vocab, ${token}`, valueText(id), 'an id, from 0');
    tokens.set(token, id);
  }
  return tokens;
}

function readMerges(entry: unknown, refuse: Refuse): readonly (readonly [string, string])[] {
  if (!Array.isArray(entry)) throw refuse('model.merges', valueText(entry), 'a list of pairs');
  return entry.map((merge: unknown, i) => {
    const parts: unknown = typeof merge === 'string' ? merge.split(' ') : merge;
    if (!Array.isArray(parts) || parts.length !== 2) throw refuse(`model.merges, ${i}`, valueText(merge), 'two tokens');
    const [left, right] = parts as readonly unknown[];
    if (typeof left !== 'string' || typeof right !== 'string')
      throw refuse(`model.merges, ${i}`, 'something other than texts', 'two tokens');
    return [left, right] as const;
  });
}

function readAddedTokens(entry: unknown, refuse: Refuse): readonly SideToken[] {
  if (!Array.isArray(entry)) throw refuse('added_tokens', valueText(entry), 'a list');
  const seen = new Set<string>();
  return entry.map((token: unknown, i) => {
    const place = `added_tokens, ${i}`;
    const record: JsonRecord = isRecord(token) ? token : {};
    if (!isId(field(record, 'id'))) throw refuse(place, valueText(token), 'an id and a text');
    const read = readAddedToken(record, place, refuse);
    if (seen.has(read.content)) throw refuse(place, `${read.content} twice`, 'every token once');
    seen.add(read.content);
    return read;
  });
}

/**
 * Reads an added token of tokenizer.json or tokenizer_config.json. Throws the error of `refuse` if the token is only
 * found in some contexts, such as whole words.
 */
export function readAddedToken(record: JsonRecord, place: string, refuse: Refuse): SideToken {
  const content = field(record, 'content');
  if (typeof content !== 'string' || content === '') throw refuse(place, valueText(content), 'a text');
  const flag = (name: string, byDefault: boolean) => {
    const value = field(record, name) ?? byDefault;
    if (typeof value !== 'boolean') throw refuse(`${place}.${name}`, valueText(value), 'true or false');
    return value;
  };
  for (const name of ['single_word', 'lstrip', 'rstrip']) {
    if (flag(name, false))
      throw refuse(`${place}.${name}`, `true, for ${content}`, 'false, so that the token is found everywhere');
  }
  const special = flag('special', false);
  return { content, special, normalized: flag('normalized', !special) };
}

const MAX_IDS = 1 << 24; // ids must be below this
const isId = (id: unknown): id is number => typeof id === 'number' && Number.isInteger(id) && id >= 0 && id < MAX_IDS;
