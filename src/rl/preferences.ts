import { pcg4d, type Random } from '../rng.ts';
import type { Pair } from './labeller.ts';

/** Most pairs kept of the labeller's, fitted and held out together, and most of a person's. */
const MOST_PAIRS = 2048;

/** One labelled pair in this many is held out. */
const HELD_OUT_EVERY = 5;

/** Most share of a fitting batch that is a person's choices, where the labeller has said something too. */
const PERSONS_SHARE = 1 / 4;

/** Preferences gathered so far. */
export interface PreferenceSet {
  readonly counts: () => { readonly pairs: number; readonly clicks: number }; // ever added, by the labeller and by a person
  /** Adds what the labeller said; a fifth of it is held out. */
  readonly addLabelled: (pairs: readonly Pair[]) => void;
  /** Adds a person's choice. It is never held out, and never dropped for the labeller's. */
  readonly addPersons: (pair: Pair) => void;
  /** `count` pairs to fit, or as many as there are, a person's among them: for few clicks to tell they get up to a quarter. */
  readonly draw: (count: number, random: Random) => readonly Pair[];
  /** The newest held-out pairs, `most` of them at most. */
  readonly heldOut: (most: number) => readonly Pair[];
}

/** An empty set. It keeps the newest 2,048 of either kind. */
export function preferenceSet(): PreferenceSet {
  const fitted: Pair[] = [];
  const heldOut: Pair[] = [];
  const persons: Pair[] = [];
  let labelled = 0;
  let clicks = 0;
  return {
    counts: () => ({ pairs: labelled, clicks }),
    addLabelled(pairs) {
      labelled += pairs.length;
      for (const pair of pairs) {
        if (isHeldOut(pair)) keep(heldOut, pair, MOST_PAIRS / HELD_OUT_EVERY);
        else keep(fitted, pair, MOST_PAIRS - MOST_PAIRS / HELD_OUT_EVERY);
      }
    },
    addPersons(pair) {
      clicks++;
      keep(persons, pair, MOST_PAIRS);
    },
    draw(count, random) {
      const share = fitted.length > 0 ? Math.ceil(count * PERSONS_SHARE) : count;
      const clicked = sample(persons, Math.min(share, count), random);
      return [...clicked, ...sample(fitted, count - clicked.length, random)];
    },
    heldOut: (most) => heldOut.slice(-most),
  };
}

/**
 * Whether a pair is for measuring only. Which side it is on follows from its tokens, whoever won, so the same two rollouts met
 * again in a later batch are never on both sides.
 */
export function isHeldOut({ better, worse }: Pair): boolean {
  return (hash(better.tokens) + hash(worse.tokens)) % HELD_OUT_EVERY === 0;
}

const words = new Uint32Array(4);
function hash(tokens: Int32Array): number {
  let state = tokens.length;
  for (const token of tokens) {
    pcg4d(state, token, 0, 0, words);
    state = words[0] ?? 0;
  }
  return state;
}

function keep(list: Pair[], pair: Pair, most: number): void {
  list.push(pair);
  if (list.length > most) list.shift();
}

/** Different elements of a list, drawn at random; all of them when it has no more. */
function sample(list: readonly Pair[], count: number, random: Random): readonly Pair[] {
  const rest = list.slice();
  const taken: Pair[] = [];
  while (taken.length < count && rest.length > 0) taken.push(...rest.splice(random.int(rest.length), 1));
  return taken;
}

/** Below this, scores are the same but for float noise. */
const SAME = 1e-6;

/**
 * What each rollout of a batch is paid for its score: `weight` times the score, centred over the batch, divided by the batch's
 * standard deviation (n) where that is over 1. Preferences do not identify the offset, so it must not pay. They do
 * identify the scale, as log-odds: a model that has learned nothing yet says little and pays little. It grows without
 * bound where labels are clean, though, so a sure model is held to a spread of 1, and `weight` keeps its meaning.
 */
export function preferenceRewards(scores: ArrayLike<number>, weight: number): Float64Array {
  const all = Float64Array.from(scores);
  const n = Math.max(1, all.length);
  const mean = all.reduce((sum, r) => sum + r, 0) / n;
  const centred = all.map((r) => r - mean);
  if (centred.every((r) => Math.abs(r) < SAME)) return all.fill(0);
  const std = Math.sqrt(centred.reduce((sum, r) => sum + r * r, 0) / n);
  return centred.map((r) => (weight * r) / Math.max(1, std));
}
