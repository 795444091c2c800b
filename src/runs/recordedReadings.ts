import { sequenceOf } from '../domain/tokenMasks.ts';
import type { RunConfig } from '../config/fields.ts';
import type { BatchView, PlayedBatch } from '../domain/batch.ts';
import type { Health } from '../domain/health.ts';
import type { AttentionView, Why, LearnedArrays } from '../domain/readings.ts';

/** The mask switches for which a recording has a preview with their values flipped: one of the two, or both. */
export const RECORDED_SWITCHES = ['lossMask', 'advantageMask', 'masks'] as const;
export type RecordedSwitch = (typeof RECORDED_SWITCHES)[number];

const MASKS = ['lossMask', 'advantageMask'] as const;

/** The knobs of a mask switch with the opposite of their values in `config`. */
export function flippedKnobs(flipped: RecordedSwitch, config: RunConfig): Partial<RunConfig> {
  const knobs = MASKS.filter((name) => flipped === 'masks' || flipped === name);
  return Object.fromEntries(knobs.map((name) => [name, config[name] === 'on' ? 'off' : 'on']));
}

/** The switch that flips exactly the knobs in which `changes` differs from `config`; null if there is none. */
export function switchFor(changes: Partial<RunConfig>, config: RunConfig): RecordedSwitch | null {
  const changedNames = (knobs: Partial<RunConfig>) =>
    (Object.keys(knobs) as (keyof RunConfig)[]).filter((name) => knobs[name] !== config[name]).toSorted();
  const wantedNames = changedNames(changes).join(' ');
  return (
    RECORDED_SWITCHES.find((flipped) => changedNames(flippedKnobs(flipped, config)).join(' ') === wantedNames) ?? null
  );
}

/** A batch's advantages, masks and pushes with a mask flipped, with every ratio at 1. Each array is (B,T). */
export type RecordedPreview = Omit<LearnedArrays, 'epochViews'>;

/**
 * The pushes of a recorded batch under its own knobs, with every ratio at 1. Previews have to be compared with these,
 * because the batch itself holds the pushes of its last minibatches. At ratio 1 the surrogate's gradient is −A times
 * its share of the mean, which a sequence's tokens have in common. The shares and the pushes of KL come from the preview with the advantage mask flipped,
 * because the loss mask of that preview is the batch's own.
 */
export function unflippedPreview(
  batch: BatchView,
  switchPreviews: RecordedReadings['switchPreviews'],
): RecordedPreview {
  const { advantages, returns, lossMask, advantageMask } = batch;
  const flippedAdvantage = switchPreviews.advantageMask;
  const shares = new Map<number, number>();
  for (const [i, advantage] of flippedAdvantage.advantages.entries()) {
    if (advantage === 0 || lossMask[i] === 0 || shares.has(sequenceOf(batch, i))) continue;
    shares.set(sequenceOf(batch, i), -(flippedAdvantage.policyWeights[i] ?? 0) / advantage);
  }
  const [anyShare = 0] = shares.values();
  const policyWeights = flippedAdvantage.policyWeights.map((weight, i) => {
    if (advantages[i] === flippedAdvantage.advantages[i]) return weight;
    return lossMask[i] === 0 ? 0 : -(advantages[i] ?? 0) * (shares.get(sequenceOf(batch, i)) ?? anyShare);
  });
  const gradWeights = flippedAdvantage.gradWeights.map((weight, i) => {
    const [ownWeight, flippedWeight] = [policyWeights[i] ?? 0, flippedAdvantage.policyWeights[i] ?? 0];
    return ownWeight === flippedWeight ? weight : weight - flippedWeight + ownWeight;
  });
  return { advantages, returns, lossMask, advantageMask, policyWeights, gradWeights };
}

interface TokenPlace {
  readonly row: number;
  readonly position: number;
}

/** The legal words at a place, likeliest first, with their log-probabilities before and after the update. */
export interface RecordedDistribution extends TokenPlace {
  readonly legal: number; // number of legal words; `tokens` may list only the likeliest of them
  readonly tokens: readonly number[];
  readonly before: readonly number[];
  readonly after: readonly number[];
}

/** Rollouts of the recorded task are listed one by one; all others are one sum. */
export interface RecordedWhy extends TokenPlace {
  readonly why: Why;
}

/** The attention of the policy when it drew the token at a place. */
export interface RecordedAttention extends TokenPlace {
  readonly attention: AttentionView;
}

/**
 * Answers of a run about one batch, so that its recording can give the same answers without the weights:
 * log-probabilities of all tokens before and after the update; the alternatives at the places with the highest entropy;
 * the reasons and the attention at the places that changed most; the batch's tasks played again by both policies; the
 * pushes with each mask switched.
 */
export interface RecordedReadings {
  readonly moved: { readonly before: Float32Array; readonly after: Float32Array }; // (B,T)
  readonly distributions: readonly RecordedDistribution[];
  readonly whys: readonly RecordedWhy[];
  readonly attentions: readonly RecordedAttention[];
  readonly rerun: { readonly before: PlayedBatch; readonly after: PlayedBatch };
  readonly switchPreviews: Readonly<Record<RecordedSwitch, RecordedPreview>>;
  readonly health?: Health; // what the monitor said after the update
}

/** The form of a type after a round trip through JSON: typed arrays become lists, and maps become lists of pairs. */
export type Plain<T> = T extends ArrayBufferView
  ? readonly number[]
  : T extends ReadonlyMap<infer K, infer V>
    ? readonly (readonly [K, V])[]
    : T extends object
      ? { readonly [K in keyof T]: Plain<T[K]> }
      : T;

/** Readings from parsed JSON: lists become typed arrays again. */
export function readingsFromJson(plain: Plain<RecordedReadings>): RecordedReadings {
  const { moved, whys, attentions, rerun, switchPreviews, distributions, health } = plain;
  const floats = (list: readonly number[]) => Float32Array.from(list);
  const preview = (json: Plain<RecordedPreview>): RecordedPreview => ({
    advantages: floats(json.advantages),
    returns: floats(json.returns),
    lossMask: floats(json.lossMask),
    advantageMask: floats(json.advantageMask),
    ...(json.observationMask && { observationMask: floats(json.observationMask) }),
    gradWeights: floats(json.gradWeights),
    policyWeights: floats(json.policyWeights),
  });
  return {
    distributions,
    moved: { before: floats(moved.before), after: floats(moved.after) },
    whys: whys.map(({ why, ...place }) => ({ ...place, why: { ...why, rollouts: Float64Array.from(why.rollouts) } })),
    attentions: attentions.map(({ attention, ...place }) => ({
      ...place,
      attention: { ...attention, weights: floats(attention.weights) },
    })),
    rerun: { before: playsFromJson(rerun.before), after: playsFromJson(rerun.after) },
    switchPreviews: {
      lossMask: preview(switchPreviews.lossMask),
      advantageMask: preview(switchPreviews.advantageMask),
      masks: preview(switchPreviews.masks),
    },
    ...(health && { health }),
  };
}

/** Plays from parsed JSON: lists become typed arrays, and pairs become maps again. */
export function playsFromJson(played: Plain<PlayedBatch>): PlayedBatch {
  return {
    ...{ rows: played.rows, length: played.length },
    tokens: Int32Array.from(played.tokens),
    roles: Uint8Array.from(played.roles),
    turns: Uint8Array.from(played.turns),
    lengths: Int32Array.from(played.lengths),
    episodes: played.episodes.map(({ names, ...episode }) => ({ ...episode, names: new Map(names) })),
  };
}
