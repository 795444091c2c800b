import type { Random } from '../base/rng.ts';
import type { PackedPairs, PreferenceMemory } from '../domain/preferences.ts';
import type { LabelledPrompt, Pair } from './labeller.ts';

/** Largest number of pairs kept from the labeller, and the same number from a person. */
const MAX_PAIRS = 2048;
const MAX_HELD_OUT = MAX_PAIRS / 4;

/** Largest share of a person's choices in a fitting batch, if there are also choices of the labeller. */
const PERSONS_SHARE = 1 / 4;

export interface PreferenceSet {
  /** The number of pairs ever added: by the labeller (`pairs`) and by a person (`clicks`). */
  readonly counts: () => { readonly pairs: number; readonly clicks: number };
  readonly addLabelled: (labelled: readonly LabelledPrompt[]) => void;
  /** Adds a person's choice. It is never held out, and pairs of the labeller never replace it. */
  readonly addPersons: (pair: Pair) => void;
  /** All if there are fewer. Up to a quarter are a person's, so that a few clicks have an effect. */
  readonly draw: (count: number, random: Random) => readonly Pair[];
  /** The newest held-out pairs, at most `most`. */
  readonly heldOut: (most: number) => readonly Pair[];
  readonly all: () => readonly Pair[];
  readonly memory: () => PreferenceMemory;
}

/**
 * Makes a set of preferences: empty, or restored from a save. It keeps the newest 2,048 pairs of the labeller, a
 * quarter as many held-out pairs, and the newest 2,048 pairs of a person. Two rollouts occur at most once among the
 * labeller's pairs and once among a person's, with the newest choice. A pair of the labeller stays on the side (fitted
 * or held out) where it was first, so no pair is on both. Two rollouts with a person's kept choice are never held out.
 */
export function preferenceSet(saved: PreferenceMemory | null = null): PreferenceSet {
  const [fitted, heldOut, persons] = [saved?.fitted, saved?.heldOut, saved?.persons].map(unpackedPairs) as [
    Pairs,
    Pairs,
    Pairs,
  ];
  let { pairs: labelledCount, clicks } = saved ?? { pairs: 0, clicks: 0 };
  const counts = () => ({ pairs: labelledCount, clicks });
  return {
    counts,
    addLabelled(labelledPrompts) {
      for (const { pairs, heldOut: isHeldOutPrompt } of labelledPrompts) {
        for (const pair of pairs) {
          labelledCount++;
          const key = keyOf(pair);
          const isHeldOut = heldOut.has(key) || (isHeldOutPrompt && !fitted.has(key) && !persons.has(key));
          addNewest(isHeldOut ? heldOut : fitted, key, pair, isHeldOut ? MAX_HELD_OUT : MAX_PAIRS);
        }
      }
    },
    addPersons(pair) {
      clicks++;
      const key = keyOf(pair);
      heldOut.delete(key); // a pair that trains the model cannot test it
      addNewest(persons, key, pair, MAX_PAIRS);
    },
    draw(count, random) {
      const share = fitted.size > 0 ? Math.ceil(count * PERSONS_SHARE) : count;
      const personsPairs = drawPairs(persons, share, random);
      return [...personsPairs, ...drawPairs(fitted, count - personsPairs.length, random)];
    },
    heldOut: (most) => [...heldOut.values()].slice(-most),
    all: () => [fitted, heldOut, persons].flatMap((list) => [...list.values()]),
    memory: () => ({
      ...counts(),
      fitted: packedPairs(fitted),
      heldOut: packedPairs(heldOut),
      persons: packedPairs(persons),
    }),
  };
}

/** Pairs by their key. The pair added or labelled last is at the end. */
type Pairs = Map<string, Pair>;

function packedPairs(pairs: Pairs): PackedPairs {
  const sides = [...pairs.values()].flatMap(({ better, worse }) => [better, worse]);
  const lengths = Int32Array.from(sides, ({ tokens }) => tokens.length);
  const total = lengths.reduce((sum, length) => sum + length, 0);
  const [tokens, roles] = [new Int32Array(total), new Uint8Array(total)];
  let at = 0;
  for (const side of sides) {
    tokens.set(side.tokens, at);
    roles.set(side.roles, at);
    at += side.tokens.length;
  }
  return { lengths, tokens, roles };
}

function unpackedPairs(from: PackedPairs | undefined): Pairs {
  const pairs: Pairs = new Map();
  if (!from) return pairs;
  let at = 0;
  const sides = Array.from(from.lengths, (length) => {
    const [start, end] = [at, (at += length)];
    return { tokens: from.tokens.slice(start, end), roles: from.roles.slice(start, end) };
  });
  for (let i = 0; i + 1 < sides.length; i += 2) {
    const pair = { better: sides[i]!, worse: sides[i + 1]! };
    pairs.set(keyOf(pair), pair);
  }
  return pairs;
}

/** Returns the key of two rollouts. It does not depend on which of them is better. */
function keyOf({ better, worse }: Pair): string {
  return [better.tokens.join(' '), worse.tokens.join(' ')].sort().join('|');
}

/** Drops the first pairs if there are more than `maxPairs`. A Map keeps the order of insertion. */
function addNewest(list: Map<string, Pair>, key: string, pair: Pair, maxPairs: number): void {
  list.delete(key);
  list.set(key, pair);
  for (const oldest of list.keys()) {
    if (list.size <= maxPairs) break;
    list.delete(oldest);
  }
}

/** `count` different elements, drawn at random; all of them if there are no more. */
function drawPairs(list: ReadonlyMap<string, Pair>, count: number, random: Random): readonly Pair[] {
  const rest = [...list.values()];
  const pairs: Pair[] = [];
  while (pairs.length < count && rest.length > 0) pairs.push(...rest.splice(random.int(rest.length), 1));
  return pairs;
}

/** Scores that differ by less are equal up to float noise. */
const SCORE_NOISE = 1e-6;

/**
 * Returns the reward of each rollout of a batch for its score: `weight` times the score, centred over the batch, and
 * divided by the batch's standard deviation (n) if that is over 1. Preferences don't identify the offset of scores, so
 * the offset must not be rewarded. They do identify the scale, as log-odds: a model that has learned nothing yet gives
 * small scores and small rewards. With clean labels the scale grows without bound, so the spread of a confident model
 * is limited to 1. Then `weight` keeps its meaning.
 */
export function preferenceRewards(scores: ArrayLike<number>, weight: number): Float64Array {
  const all = Float64Array.from(scores);
  const n = Math.max(1, all.length);
  const mean = all.reduce((sum, r) => sum + r, 0) / n;
  const centred = all.map((r) => r - mean);
  if (centred.every((r) => Math.abs(r) < SCORE_NOISE)) return all.fill(0);
  const std = Math.sqrt(centred.reduce((sum, r) => sum + r * r, 0) / n);
  return centred.map((r) => (weight * r) / Math.max(1, std));
}
