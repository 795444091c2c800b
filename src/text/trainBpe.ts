import { BYTE_CHARACTERS, byteText } from './byteCharacters.ts';

/** A trained byte-level BPE. Tokens are written in byte characters (`byteCharacters.ts`). */
export interface TrainedBpe {
  readonly tokens: readonly string[]; // the 256 bytes first, then merged tokens in the order in which they were made
  readonly merges: readonly (readonly [string, string])[]; // in the order in which they were found
}

/** A piece of text as symbols. */
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
