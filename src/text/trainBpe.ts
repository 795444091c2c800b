import { LETTERS, lettersOf } from './letters.ts';

/** A byte-level BPE that was trained: its tokens in their order, in the letters of bytes, and the merges that made them, the soonest first. */
export interface TrainedBpe {
  readonly tokens: readonly string[]; // the 256 bytes first
  readonly merges: readonly (readonly [string, string])[];
}

interface Word {
  symbols: string[];
  readonly count: number;
}

/**
 * Byte-pair encoding (Sennrich, Haddow and Birch 2016, arXiv 1508.07909) over the bytes of pieces of text: merges the pair of symbols that
 * is met most often, until there are `size` tokens or no pair is met twice. Of pairs met equally often the one that comes first in the order
 * of its letters, so that equal texts give equal tokens. `pieces` are cut already: nothing is merged across their ends.
 */
export function trainBpe(pieces: Iterable<string>, size: number): TrainedBpe {
  const words = countedWords(pieces);
  const tokens = [...LETTERS];
  const known = new Set(tokens);
  const merges: (readonly [string, string])[] = [];
  while (tokens.length < size) {
    const best = mostMet(words);
    if (!best) break;
    const [left, right] = best;
    merges.push(best);
    for (const word of words) word.symbols = joined(word.symbols, left, right);
    const token = left + right;
    // two ways to the same token: the later merge makes no new one
    if (!known.has(token)) tokens.push(token);
    known.add(token);
  }
  return { tokens, merges };
}

function countedWords(pieces: Iterable<string>): readonly Word[] {
  const counts = new Map<string, number>();
  for (const piece of pieces) counts.set(piece, (counts.get(piece) ?? 0) + 1);
  const encoder = new TextEncoder();
  return Array.from(counts, ([piece, count]) => ({ symbols: Array.from(lettersOf(encoder.encode(piece))), count }));
}

/** The pair of neighbours met most often; null where none is met twice. */
function mostMet(words: readonly Word[]): readonly [string, string] | null {
  // no letter of a byte is a blank
  const counts = new Map<string, number>();
  for (const { symbols, count } of words) {
    for (let i = 0; i + 1 < symbols.length; i++) {
      const pair = `${symbols[i] ?? ''} ${symbols[i + 1] ?? ''}`;
      counts.set(pair, (counts.get(pair) ?? 0) + count);
    }
  }
  let [best, most] = ['', 1];
  for (const [pair, count] of counts)
    if (count > most || (count === most && most > 1 && pair < best)) [best, most] = [pair, count];
  const [left, right] = best.split(' ');
  return left === undefined || right === undefined ? null : [left, right];
}

function joined(symbols: string[], left: string, right: string): string[] {
  const out: string[] = [];
  for (let i = 0; i < symbols.length; i++) {
    const pair = symbols[i] === left && symbols[i + 1] === right;
    out.push(pair ? left + right : (symbols[i] ?? ''));
    if (pair) i++;
  }
  return out.length === symbols.length ? symbols : out;
}
