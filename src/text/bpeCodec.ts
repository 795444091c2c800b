import { ProblemError } from '../base/problem.ts';
import { type Codec, resolveStops } from './codec.ts';
import { tokenFinder, type Span } from './textFinder.ts';
import { tokenBytes, BYTE_CHARACTERS, byteText } from './byteCharacters.ts';
import type { Split } from './preTokenizer.ts';

/** A token that is found in text before the text is split into pieces. */
export interface AddedToken {
  readonly id: number;
  readonly content: string;
  readonly special: boolean; // true: programs that decode text leave the token out
  readonly normalized: boolean; // true: found in normalized text; false: found before normalization
}

/** A byte-level BPE vocabulary and its way of splitting text, read from any kind of file. */
export interface BpeVocabulary {
  readonly file: string; // name for error messages
  /** Ids of tokens, which are written in byte characters (`byteCharacters.ts`); ids are unique. */
  readonly tokens: ReadonlyMap<string, number>;
  readonly merges: readonly (readonly [string, string])[]; // in order of rank: earlier merges apply first
  readonly added: readonly AddedToken[];
  readonly nfc: boolean; // text is normalized to NFC
  readonly splits: readonly Split[];
  readonly ignoreMerges: boolean; // true: a piece that is a token becomes that token, without merges
  /** Id for a byte that has no token; null: such a byte is left out, as `tokenizers` does. */
  readonly unknownId: number | null;
  readonly stops: readonly number[]; // ids that end a turn according to the file; may be empty
  readonly specialAsText?: boolean; // true: a special token that is written out in a text is encoded as ordinary text
}

const REMEDY = 'Choose a checkpoint with a byte-level BPE tokenizer, whole, as it was published.';
/** Maximum number of merges, for which `merger` is exact. The largest published vocabularies have 500,000 merges and 260,000 tokens. */
const MAX_MERGES = 1 << 20;
/** Maximum number of pieces whose ids are cached. A cache helps because most text consists of a few repeated words. */
const MAX_CACHED_PIECES = 1 << 16;
/** Maximum length of a cached piece, in UTF-16 units. */
const MAX_CACHED_LENGTH = 40;
const UNPAIRED_SURROGATE = /\p{Surrogate}/gu;

/**
 * The codec of a byte-level BPE vocabulary. Throws ProblemError if a merge's parts or result are not tokens, if two
 * tokens have one id, or if the vocabulary is too large. An unpaired surrogate is encoded as U+FFFD, as other programs
 * do.
 */
export function bpeCodec(vocabulary: BpeVocabulary): Codec {
  const { tokens, added, nfc, splits, ignoreMerges } = vocabulary;
  const byId = tokensById(vocabulary);
  const control = new Set(
    added.filter(({ id, special }) => special || vocabulary.stops.includes(id)).map(({ id }) => id),
  );
  // control tokens are only found in text; merges never make one
  const tokenOf = (token: string) => {
    const id = tokens.get(token);
    return id === undefined || control.has(id) ? undefined : id;
  };
  const byteIds = BYTE_CHARACTERS.map((character) => tokenOf(character) ?? vocabulary.unknownId);
  const merge = merger(mergesOf(vocabulary).filter(({ merged }) => !control.has(merged)));
  const addedIds = new Map(added.map(({ content, id }) => [content, id]));
  const normalize = (text: string) => (nfc ? text.normalize('NFC') : text);
  const findable = added
    .filter(({ special }) => !special || vocabulary.specialAsText !== true)
    .map(({ id, content, normalized }) => ({
      ...{ id, normalized, control: control.has(id) },
      content: normalized ? normalize(content) : content,
    }));
  const findRaw = tokenFinder(findable.filter(({ normalized }) => !normalized));
  const findNormalized = tokenFinder(findable.filter(({ normalized }) => normalized));
  const hasNormalizedControl = findable.some((token) => token.normalized && token.control);
  const specialIds = new Set(added.filter((token) => token.special).map(({ id }) => id));
  const cachedIds = new Map<string, readonly number[]>();
  const encoder = new TextEncoder();

  const mergedIds = (piece: string): readonly number[] => {
    const bytes = encoder.encode(piece);
    const wholeToken = ignoreMerges ? tokenOf(byteText(bytes)) : undefined;
    if (wholeToken !== undefined) return [wholeToken];
    const out: number[] = [];
    merge(Array.from(bytes, (byte) => byteIds[byte] ?? null).filter(isId), out);
    return out;
  };
  const pieceIds = (piece: string): readonly number[] => {
    const cached = cachedIds.get(piece);
    if (cached) return cached;
    const computed = mergedIds(piece);
    if (piece.length <= MAX_CACHED_LENGTH) {
      if (cachedIds.size >= MAX_CACHED_PIECES) cachedIds.clear();
      cachedIds.set(piece, computed);
    }
    return computed;
  };
  const appendPlain = (text: string, out: number[]): void => {
    let pieces: readonly string[] = [text];
    for (const split of splits) pieces = pieces.flatMap(split);
    for (const piece of pieces) for (const id of pieceIds(piece)) out.push(id);
  };
  const encode = (text: string, outside: readonly Span[] = []): readonly number[] => {
    const out: number[] = [];
    for (const part of findRaw(text.replaceAll(UNPAIRED_SURROGATE, '\ufffd'), outside)) {
      if (part.id !== null) {
        out.push(part.id);
        continue;
      }
      const end = part.from + part.text.length;
      const partSpans = hasNormalizedControl ? outside.filter((span) => span[0] < end && part.from < span[1]) : [];
      const normalizedSpans = partSpans.map(([from, to]) =>
        normalizedSpan(part.text, [from - part.from, to - part.from], normalize),
      );
      for (const inner of findNormalized(normalize(part.text), normalizedSpans)) {
        if (inner.id !== null) out.push(inner.id);
        else appendPlain(inner.text, out);
      }
    }
    return out;
  };
  const cachedBytes: (Uint8Array | undefined)[] = [];
  const bytes = (id: number): Uint8Array => (cachedBytes[id] ??= tokenBytes(byId.get(id) ?? ''));
  const pieces = (ids: readonly number[]): readonly string[] => {
    const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
    const texts = ids.map((id) => decoder.decode(bytes(id), { stream: true }));
    const remainder = decoder.decode();
    return texts.map((text, i) => (i === texts.length - 1 ? text + remainder : text));
  };
  const id = (token: string) => addedIds.get(token) ?? tokens.get(byteText(encoder.encode(token))) ?? null;
  return {
    kind: 'bytes',
    size: [...byId.keys()].reduce((most, at) => Math.max(most, at + 1), 0),
    special: specialIds,
    stops: resolveStops({ id, special: specialIds }, vocabulary.stops),
    encode,
    decode: (ids) => pieces(ids).join(''),
    pieces,
    bytes,
    id,
  };
}

const isId = (id: number | null): id is number => id !== null;

const refuse = (file: string, place: string, got: string, want: string) =>
  new ProblemError([{ file, place, got, want, remedy: REMEDY }]);

function tokensById({ file, tokens, added }: BpeVocabulary): ReadonlyMap<number, string> {
  const byId = new Map<number, string>();
  for (const [token, id] of tokens) {
    const earlierToken = byId.get(id);
    if (earlierToken !== undefined)
      throw refuse(file, 'vocabulary', `the id ${id} for ${earlierToken} and ${token}`, 'one token per id');
    byId.set(id, token);
  }
  for (const { id, content } of added) {
    const other = byId.get(id);
    if (other !== undefined && other !== content) {
      throw refuse(file, 'added tokens', `the id ${id} for ${other} and ${content}`, 'one token per id');
    }
    byId.set(id, content);
  }
  return byId;
}

function mergesOf({ file, tokens, merges }: BpeVocabulary): readonly Merge[] {
  if (merges.length > MAX_MERGES) throw refuse(file, 'merges', `${merges.length} merges`, `at most ${MAX_MERGES}`);
  return merges.map(([left, right], rank) => {
    const idOf = (token: string) => {
      const id = tokens.get(token);
      if (id === undefined)
        throw refuse(file, `merges, ${rank}`, `${token}, which is not a token`, 'tokens of the vocabulary');
      return id;
    };
    return { left: idOf(left), right: idOf(right), merged: idOf(left + right) };
  });
}

/**
 * The position of a span after its text was normalized. A character that was composed across an end of the span belongs
 * to the span.
 */
function normalizedSpan(text: string, [from, to]: Span, normalize: (text: string) => string): Span {
  const { length } = normalize(text);
  const before = (at: number) => normalize(text.slice(0, at)).length;
  const fromEnd = (at: number) => length - normalize(text.slice(at)).length;
  return [Math.min(before(from), fromEnd(from)), Math.max(before(to), fromEnd(to))];
}

/** Two adjacent ids that are replaced by one. The index in a list of merges is the rank; lower ranks apply first. */
export interface Merge {
  readonly left: number;
  readonly right: number;
  readonly merged: number;
}

/** A key of the heap is rank · KEY_BASE + position. Keys are exact integers for up to 2²² merges. */
const KEY_BASE = 2 ** 31;

/**
 * Makes a function that returns the rank of a merge by its two ids; −1 if there is no such merge. It uses a hash table
 * with open addressing, because a Map of 150,000 pairs takes four times as long.
 */
function rankTable(merges: readonly Merge[]): (left: number, right: number) => number {
  let bits = 4;
  while (1 << bits < merges.length * 2) bits++;
  const mask = (1 << bits) - 1;
  const ranks = new Int32Array(1 << bits).fill(-1);
  const lefts = Int32Array.from(merges, ({ left }) => left);
  const rights = Int32Array.from(merges, ({ right }) => right);
  const hash = (left: number, right: number) =>
    (Math.imul(left, 0x9e3779b1) ^ Math.imul(right + 1, 0x85ebca6b)) >>> (32 - bits);
  const findSlot = (left: number, right: number) => {
    let at = hash(left, right);
    for (;;) {
      const rank = ranks[at] ?? -1;
      if (rank < 0 || (lefts[rank] === left && rights[rank] === right)) return at;
      at = (at + 1) & mask;
    }
  };
  for (let rank = 0; rank < merges.length; rank++) {
    const at = findSlot(lefts[rank] ?? 0, rights[rank] ?? 0);
    if ((ranks[at] ?? -1) < 0) ranks[at] = rank; // if a merge occurs twice, its first rank counts
  }
  return (left, right) => ranks[findSlot(left, right)] ?? -1;
}

/**
 * Makes a function for byte-pair encoding (Sennrich et al. 2016, arXiv:1508.07909). It takes the ids of a word's bytes,
 * merges the adjacent pair with the lowest rank (the leftmost if several have it) until no pair can be merged, and
 * appends the ids to `out`. It takes time n log n for n bytes.
 */
export function merger(merges: readonly Merge[]): (bytes: readonly number[], out: number[]) => void {
  const rankOf = rankTable(merges);
  const mergedIds = Int32Array.from(merges, ({ merged }) => merged);
  const heap: number[] = [];
  return (bytes, out) => {
    const ids = [...bytes];
    const next = ids.map((_, i) => i + 1);
    const previous = ids.map((_, i) => i - 1);
    const pushMerge = (at: number) => {
      const after = next[at] ?? ids.length;
      if (after >= ids.length) return;
      const rank = rankOf(ids[at] ?? 0, ids[after] ?? 0);
      if (rank >= 0) heapPush(heap, rank * KEY_BASE + at);
    };
    heap.length = 0;
    for (let at = 0; at + 1 < ids.length; at++) pushMerge(at);
    for (let key = heapPop(heap); key >= 0; key = heapPop(heap)) {
      const at = key % KEY_BASE;
      const rank = (key - at) / KEY_BASE;
      const after = next[at] ?? ids.length;
      const stale = ids[at] === MERGED_AWAY || after >= ids.length || rankOf(ids[at] ?? 0, ids[after] ?? 0) !== rank;
      if (stale) continue;
      ids[at] = mergedIds[rank] ?? 0;
      ids[after] = MERGED_AWAY;
      const newNext = next[after] ?? ids.length;
      next[at] = newNext;
      if (newNext < ids.length) previous[newNext] = at;
      const left = previous[at] ?? -1;
      if (left >= 0) pushMerge(left);
      pushMerge(at);
    }
    for (const id of ids) if (id !== MERGED_AWAY) out.push(id);
  };
}
/** Marks a position whose id was merged into its left neighbour. */
const MERGED_AWAY = -1;

function heapPush(heap: number[], key: number): void {
  let at = heap.length;
  heap.push(key);
  while (at > 0) {
    const parent = (at - 1) >> 1;
    const parentKey = heap[parent] ?? 0;
    if (parentKey <= key) break;
    heap[at] = parentKey;
    at = parent;
  }
  heap[at] = key;
}

/** Removes and returns the smallest key; −1 if the heap is empty. */
function heapPop(heap: number[]): number {
  const least = heap[0];
  const last = heap.pop();
  if (least === undefined || last === undefined) return -1;
  const { length } = heap;
  if (length === 0) return least;
  let at = 0;
  for (;;) {
    let child = 2 * at + 1;
    if (child >= length) break;
    if (child + 1 < length && (heap[child + 1] ?? 0) < (heap[child] ?? 0)) child++;
    const childKey = heap[child] ?? 0;
    if (childKey >= last) break;
    heap[at] = childKey;
    at = child;
  }
  heap[at] = last;
  return least;
}
