import type { Random } from '../base/rng.ts';
import type { PackedPairs, PreferenceMemory } from '../domain/preferences.ts';
import type { Labelled, Pair } from './labeller.ts';

/** Most pairs kept of the labeller's to fit, most of a person's, and most of those held out. */
const MOST_PAIRS = 2048;
const MOST_HELD_OUT = MOST_PAIRS / 4;

/** Most share of a fitting batch that is a person's choices, where the labeller has said something too. */
const PERSONS_SHARE = 1 / 4;

/** Preferences gathered so far. */
export interface PreferenceSet {
  /** How many were ever added: by the labeller, by a person. */
  readonly counts: () => { readonly pairs: number; readonly clicks: number };
  readonly addLabelled: (labelled: readonly Labelled[]) => void;
  /** Adds a person's choice. It is never held out, and never dropped for the labeller's. */
  readonly addPersons: (pair: Pair) => void;
  /** `count` pairs to fit, or as many as there are, a person's among them: for few clicks to tell they get up to a quarter. */
  readonly draw: (count: number, random: Random) => readonly Pair[];
  /** The newest held-out pairs, `most` of them at most. */
  readonly heldOut: (most: number) => readonly Pair[];
  readonly all: () => readonly Pair[];
  /** All of it, as a copy. */
  readonly memory: () => PreferenceMemory;
}

/**
 * A set, empty or as it was remembered. It keeps the newest 2,048 pairs, and a quarter of that held out. The same two rollouts are kept once, with what was
 * said of them last, on the side they were first put: no pair is ever both fitted and held out.
 */
export function preferenceSet(from: PreferenceMemory | null = null): PreferenceSet {
  const [fitted, heldOut, persons] = [from?.fitted, from?.heldOut, from?.persons].map(byKey) as [Pairs, Pairs, Pairs];
  let { pairs: labelled, clicks } = from ?? { pairs: 0, clicks: 0 };
  const counts = () => ({ pairs: labelled, clicks });
  return {
    counts,
    addLabelled(said) {
      for (const { pairs, heldOut: aside } of said) {
        for (const pair of pairs) {
          labelled++;
          const key = keyOf(pair);
          const held = heldOut.has(key) || (aside && !fitted.has(key));
          keep(held ? heldOut : fitted, key, pair, held ? MOST_HELD_OUT : MOST_PAIRS);
        }
      }
    },
    addPersons(pair) {
      clicks++;
      const key = keyOf(pair);
      heldOut.delete(key); // a pair that trains the model cannot test it
      keep(persons, key, pair, MOST_PAIRS);
    },
    draw(count, random) {
      const share = fitted.size > 0 ? Math.ceil(count * PERSONS_SHARE) : count;
      const clicked = sample(persons, share, random);
      return [...clicked, ...sample(fitted, count - clicked.length, random)];
    },
    heldOut: (most) => [...heldOut.values()].slice(-most),
    all: () => [fitted, heldOut, persons].flatMap((list) => [...list.values()]),
    memory: () => ({ ...counts(), fitted: packed(fitted), heldOut: packed(heldOut), persons: packed(persons) }),
  };
}

/** Pairs by their key, the pair that was added or labelled last at the end. */
type Pairs = Map<string, Pair>;

function packed(pairs: Pairs): PackedPairs {
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

function byKey(from: PackedPairs | undefined): Pairs {
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

/** Names two rollouts, whichever of them won. */
function keyOf({ better, worse }: Pair): string {
  return [better.tokens.join(' '), worse.tokens.join(' ')].sort().join('|');
}

/** Puts a pair last, and drops the first of more than `most`: a Map keeps the order in which keys came. */
function keep(list: Map<string, Pair>, key: string, pair: Pair, most: number): void {
  list.delete(key);
  list.set(key, pair);
  for (const oldest of list.keys()) {
    if (list.size <= most) break;
    list.delete(oldest);
  }
}

/** Different elements of a list, drawn at random; all of them when it has no more. */
function sample(list: ReadonlyMap<string, Pair>, count: number, random: Random): readonly Pair[] {
  const rest = [...list.values()];
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
