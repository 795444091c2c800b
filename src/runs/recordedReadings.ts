import type { RunConfig } from '../config/fields.ts';
import type { BatchView, PlayedBatch } from '../domain/batch.ts';
import type { Pushed } from '../domain/batchPreview.ts';
import type { Health } from '../domain/health.ts';
import type { AttentionView, Why } from '../domain/readings.ts';

/** Knobs that a recorded batch is also shown with turned: one of the two masks, or both. */
export const RECORDED_SWITCHES = ['lossMask', 'advantageMask', 'masks'] as const;
export type RecordedSwitch = (typeof RECORDED_SWITCHES)[number];

const MASKS = ['lossMask', 'advantageMask'] as const;

/** The knobs of a switch, turned from where a configuration has them. */
export function turnedBy(flipped: RecordedSwitch, config: RunConfig): Partial<RunConfig> {
  const knobs = MASKS.filter((name) => flipped === 'masks' || flipped === name);
  return Object.fromEntries(knobs.map((name) => [name, config[name] === 'on' ? 'off' : 'on']));
}

/** The switch that turns these knobs and no others from where a configuration has them; null where none does. */
export function switchFor(changes: Partial<RunConfig>, config: RunConfig): RecordedSwitch | null {
  const turned = (knobs: Partial<RunConfig>) =>
    (Object.keys(knobs) as (keyof RunConfig)[]).filter((name) => knobs[name] !== config[name]).toSorted();
  const wanted = turned(changes).join(' ');
  return RECORDED_SWITCHES.find((flipped) => turned(turnedBy(flipped, config)).join(' ') === wanted) ?? null;
}

/** What a switch turned would have changed of a batch, with every ratio at 1; each (B,T). */
export type RecordedPreview = Omit<Pushed, 'passes'>;

/**
 * A recorded batch as its own knobs push it with every ratio at 1, which is what its previews are compared with: the batch itself
 * holds the pushes of its last minibatches. At ratio 1 the surrogate's gradient is −A times the row's share of the mean. Shares and
 * the pushes of KL are read off the preview with the other advantage mask, which has the same loss mask.
 */
export function recordedBefore(batch: BatchView, ghosts: RecordedReadings['ghosts']): RecordedPreview {
  const { advantages, returns, lossMask, advantageMask, rows, length } = batch;
  const other = ghosts.advantageMask;
  const shares = Array.from({ length: rows }, (_, row) => {
    const from = other.advantages.subarray(row * length, (row + 1) * length);
    const at = from.findIndex((advantage, t) => advantage !== 0 && lossMask[row * length + t] !== 0);
    return at < 0 ? null : -(other.policyWeights[row * length + at] ?? 0) / (from[at] ?? 1);
  });
  const known = shares.find((share) => share !== null) ?? 0;
  const policyWeights = other.policyWeights.map((weight, i) => {
    if (advantages[i] === other.advantages[i]) return weight;
    return lossMask[i] === 0 ? 0 : -(advantages[i] ?? 0) * (shares[Math.floor(i / length)] ?? known);
  });
  const gradWeights = other.gradWeights.map((weight, i) => {
    const [mine, its] = [policyWeights[i] ?? 0, other.policyWeights[i] ?? 0];
    return mine === its ? weight : weight - its + mine;
  });
  return { advantages, returns, lossMask, advantageMask, policyWeights, gradWeights };
}

/** A place in a recorded batch. */
interface Place {
  readonly row: number;
  readonly position: number;
}

/** The words that could stand at a place, likeliest first, and their log-probabilities before and after the update. */
export interface RecordedDistribution extends Place {
  readonly legal: number; // words that could; where they are more than are told, the rest is left out
  readonly tokens: readonly number[];
  readonly before: readonly number[];
  readonly after: readonly number[];
}

/** Why the update moved the token there: of the rollouts those of the batch, the others of the update in one. */
export interface RecordedWhy extends Place {
  readonly why: Why;
}

/** What the policy looked at when it drew the token there. */
export interface RecordedAttention extends Place {
  readonly attention: AttentionView;
}

/**
 * What a run answered about a batch while both policies were at hand, so that the recording answers the same: log-probabilities of
 * all tokens, what else could have been written where most was open, and, where most moved, why and what was looked at; its tasks
 * played again before and after; what switches turned would have pushed.
 */
export interface RecordedReadings {
  readonly moved: { readonly before: Float32Array; readonly after: Float32Array }; // (B,T)
  readonly distributions: readonly RecordedDistribution[];
  readonly whys: readonly RecordedWhy[];
  readonly attentions: readonly RecordedAttention[];
  readonly rerun: { readonly before: PlayedBatch; readonly after: PlayedBatch };
  readonly ghosts: Readonly<Record<RecordedSwitch, RecordedPreview>>;
  readonly health?: Health; // what the monitor said after the update
}

/** Readings as JSON has them. */
export type PlainReadings = Plain<RecordedReadings>;
/** The same with lists where JSON has lists, and pairs where there are names. */
export type Plain<T> = T extends ArrayBufferView
  ? readonly number[]
  : T extends ReadonlyMap<infer K, infer V>
    ? readonly (readonly [K, V])[]
    : T extends object
      ? { readonly [K in keyof T]: Plain<T[K]> }
      : T;

/** Readings as they were before they became JSON. */
export function readingsOf(plain: PlainReadings): RecordedReadings {
  const { moved, whys, attentions, rerun, ghosts, distributions, health } = plain;
  const floats = (list: readonly number[]) => Float32Array.from(list);
  const preview = (of: Plain<RecordedPreview>): RecordedPreview => ({
    advantages: floats(of.advantages),
    returns: floats(of.returns),
    lossMask: floats(of.lossMask),
    advantageMask: floats(of.advantageMask),
    gradWeights: floats(of.gradWeights),
    policyWeights: floats(of.policyWeights),
  });
  return {
    distributions,
    moved: { before: floats(moved.before), after: floats(moved.after) },
    whys: whys.map(({ why, ...place }) => ({ ...place, why: { ...why, rollouts: Float64Array.from(why.rollouts) } })),
    attentions: attentions.map(({ attention, ...place }) => ({
      ...place,
      attention: { ...attention, weights: floats(attention.weights) },
    })),
    rerun: { before: playedOf(rerun.before), after: playedOf(rerun.after) },
    ghosts: {
      lossMask: preview(ghosts.lossMask),
      advantageMask: preview(ghosts.advantageMask),
      masks: preview(ghosts.masks),
    },
    ...(health && { health }),
  };
}

/** Plays as they were before they became JSON. */
export function playedOf(played: Plain<PlayedBatch>): PlayedBatch {
  return {
    ...{ rows: played.rows, length: played.length },
    tokens: Int32Array.from(played.tokens),
    roles: Uint8Array.from(played.roles),
    turns: Uint8Array.from(played.turns),
    lengths: Int32Array.from(played.lengths),
    episodes: played.episodes.map(({ names, ...episode }) => ({ ...episode, names: new Map(names) })),
  };
}
