import { ProblemError } from '../base/problem.ts';
import { type Codec, stopsOf } from './codec.ts';
import { finder, type Span } from './textFinder.ts';
import { bytesOf, LETTERS, lettersOf } from './letters.ts';
import { type Merge, merger } from './bpeMerges.ts';
import type { Split } from './preTokenizer.ts';

/** A token that is found in text before anything is cut. */
export interface AddedToken {
  readonly id: number;
  readonly content: string;
  readonly special: boolean; // left out of text by readers
  readonly normalized: boolean; // looked for after normalization, not before
}

/** A byte-level BPE vocabulary with how it cuts text, wherever it was written. */
export interface BpeVocabulary {
  readonly file: string; // for messages
  readonly tokens: ReadonlyMap<string, number>; // in the letters of bytes, ids once each
  readonly merges: readonly (readonly [string, string])[]; // the sooner, the earlier
  readonly added: readonly AddedToken[];
  readonly nfc: boolean; // text is normalized to NFC
  readonly splits: readonly Split[];
  readonly wholeWords: boolean; // a piece that is a token is not merged
  readonly unknown: number | null; // the id of a byte that has no token; null: such a byte is left out, as `tokenizers` does
  readonly stops: readonly number[]; // ids the file names as ends; may be none
  readonly splitsSpecial?: boolean; // special tokens written out in a text are text
}

const REMEDY = 'Choose a checkpoint with a byte-level BPE tokenizer, whole, as it was published.';
/** The largest published vocabularies have 500,000 merges and 260,000 tokens of up to some 200 letters. */
export const MOST_MERGES = 1 << 20;
const MOST_LETTERS = 1024; // of a token
const MOST_ADDED_LETTERS = 1 << 19; // of all added tokens
/** Pieces whose ids are remembered, and how long they may be: most of a text are a few words over and over. */
const REMEMBERED = 1 << 16;
const LONGEST_REMEMBERED = 40;
const UNPAIRED = /\p{Surrogate}/gu;

/**
 * The codec of a byte-level BPE vocabulary. Throws ProblemError where the vocabulary cannot be one: a merge of or into what is no
 * token, an id twice. Surrogates that stand alone are read as U+FFFD, which is what other programs are given for them.
 */
export function bpeCodec(vocabulary: BpeVocabulary): Codec {
  const { tokens, added, nfc, splits, wholeWords } = vocabulary;
  const byId = tokensById(vocabulary);
  const control = new Set(
    added.filter(({ id, special }) => special || vocabulary.stops.includes(id)).map(({ id }) => id),
  );
  // a control token is found in text or is not there: none is merged from pieces
  const tokenOf = (letters: string) => {
    const id = tokens.get(letters);
    return id === undefined || control.has(id) ? undefined : id;
  };
  const byteIds = LETTERS.map((letter) => tokenOf(letter) ?? vocabulary.unknown);
  const merge = merger(mergesOf(vocabulary).filter(({ merged }) => !control.has(merged)));
  const ids = new Map(added.map(({ content, id }) => [content, id]));
  const normal = (text: string) => (nfc ? text.normalize('NFC') : text);
  const found = added
    .filter(({ special }) => !special || vocabulary.splitsSpecial !== true)
    .map(({ id, content, normalized }) => ({
      ...{ id, normalized, control: control.has(id) },
      content: normalized ? normal(content) : content,
    }));
  const findRaw = finder(found.filter(({ normalized }) => !normalized));
  const findNormal = finder(found.filter(({ normalized }) => normalized));
  const normalControl = found.some((token) => token.normalized && token.control);
  const special = new Set(added.filter((token) => token.special).map(({ id }) => id));
  const remembered = new Map<string, readonly number[]>();
  const encoder = new TextEncoder();

  const merged = (piece: string): readonly number[] => {
    const bytes = encoder.encode(piece);
    const whole = wholeWords ? tokenOf(lettersOf(bytes)) : undefined;
    if (whole !== undefined) return [whole];
    const out: number[] = [];
    merge(Array.from(bytes, (byte) => byteIds[byte] ?? null).filter(isId), out);
    return out;
  };
  const pieceIds = (piece: string): readonly number[] => {
    const known = remembered.get(piece);
    if (known) return known;
    const found = merged(piece);
    if (piece.length <= LONGEST_REMEMBERED) {
      if (remembered.size >= REMEMBERED) remembered.clear();
      remembered.set(piece, found);
    }
    return found;
  };
  const plain = (text: string, out: number[]): void => {
    let pieces: readonly string[] = [text];
    for (const split of splits) pieces = pieces.flatMap(split);
    for (const piece of pieces) for (const id of pieceIds(piece)) out.push(id);
  };
  const encode = (text: string, outside: readonly Span[] = []): readonly number[] => {
    const out: number[] = [];
    for (const part of findRaw(text.replaceAll(UNPAIRED, '\ufffd'), outside)) {
      if (part.id !== null) {
        out.push(part.id);
        continue;
      }
      const end = part.from + part.text.length;
      const own = normalControl ? outside.filter((span) => span[0] < end && part.from < span[1]) : [];
      const moved = own.map(([from, to]) => normalSpan(part.text, [from - part.from, to - part.from], normal));
      for (const inner of findNormal(normal(part.text), moved)) {
        if (inner.id !== null) out.push(inner.id);
        else plain(inner.text, out);
      }
    }
    return out;
  };
  const known: (Uint8Array | undefined)[] = [];
  const bytes = (id: number): Uint8Array => (known[id] ??= bytesOf(byId.get(id) ?? ''));
  const pieces = (list: readonly number[]): readonly string[] => {
    const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
    const texts = list.map((id) => decoder.decode(bytes(id), { stream: true }));
    const rest = decoder.decode();
    return texts.map((text, i) => (i === texts.length - 1 ? text + rest : text));
  };
  const id = (token: string) => ids.get(token) ?? tokens.get(lettersOf(encoder.encode(token))) ?? null;
  return {
    kind: 'bytes',
    size: [...byId.keys()].reduce((most, at) => Math.max(most, at + 1), 0),
    special,
    stops: stopsOf({ id, special }, vocabulary.stops),
    encode,
    decode: (list) => pieces(list).join(''),
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
  const letters = added.reduce((sum, { content }) => sum + content.length, 0);
  if (letters > MOST_ADDED_LETTERS) throw refuse(file, 'added tokens', `${letters} letters`, `at most ${MOST_ADDED_LETTERS}`); // prettier-ignore
  const long = [...tokens.keys(), ...added.map(({ content }) => content)].find(({ length }) => length > MOST_LETTERS);
  if (long !== undefined) throw refuse(file, 'vocabulary', `a token of ${long.length} letters`, `at most ${MOST_LETTERS}`); // prettier-ignore
  for (const [token, id] of tokens) {
    const other = byId.get(id);
    if (other !== undefined)
      throw refuse(file, 'vocabulary', `the id ${id} for ${other} and ${token}`, 'an id a token');
    byId.set(id, token);
  }
  for (const { id, content } of added) {
    const other = byId.get(id);
    if (other !== undefined && other !== content) {
      throw refuse(file, 'added tokens', `the id ${id} for ${other} and ${content}`, 'an id a token');
    }
    byId.set(id, content);
  }
  return byId;
}

function mergesOf({ file, tokens, merges }: BpeVocabulary): readonly Merge[] {
  if (merges.length > MOST_MERGES) throw refuse(file, 'merges', `${merges.length} of them`, `at most ${MOST_MERGES}`);
  return merges.map(([left, right], rank) => {
    const idOf = (token: string) => {
      const id = tokens.get(token);
      if (id === undefined)
        throw refuse(file, `merges, ${rank}`, `${token}, which is no token`, 'tokens of the vocabulary');
      return id;
    };
    return { left: idOf(left), right: idOf(right), merged: idOf(left + right) };
  });
}

/** Where a part of a text stands once it is normalized: letters that its ends were composed into are of it. */
function normalSpan(text: string, [from, to]: Span, normal: (text: string) => string): Span {
  const { length } = normal(text);
  const before = (at: number) => normal(text.slice(0, at)).length;
  const behind = (at: number) => length - normal(text.slice(at)).length;
  return [Math.min(before(from), behind(from)), Math.max(before(to), behind(to))];
}
