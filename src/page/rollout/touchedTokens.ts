import { TokenMark } from './mark.ts';
import type { RunConfig } from '../../config/fields.ts';
import type { TokenSet } from '../../config/formulaTerms.ts';
import { agentOnly, type MaskKnob } from '../../config/masks.ts';
import { comparesTurns, ESTIMATORS, sharesTurnAdvantage, usesCritic } from '../../config/estimators.ts';
import { turnsByState, turnStates } from '../../domain/states.ts';
import type { BatchView } from '../../domain/batch.ts';
import {
  learnedGroups,
  observationMask,
  responseMask,
  turnEnds,
  turnStarts,
  untrainedTurns,
} from '../../domain/tokenMasks.ts';
import { isClipped, epochsOf } from './channels.ts';

export interface MarkingInput {
  readonly batch: BatchView;
  readonly config: RunConfig; // it determines the masks
  readonly row: number; // the row on screen
}

/** The marks of a set of tokens, (B,T). They follow the trainer's masks and, for clipping, the kept epochs. */
export function tokenMarks({ batch, config, row }: MarkingInput, set: TokenSet): Uint8Array {
  const groups = learnedGroups(batch);
  const skippedTokens = config.choiceMask === 'on' ? batch.singles : undefined;
  const mask = (place: MaskKnob) => responseMask(batch, groups, agentOnly(config, place), skippedTokens);
  const untrained = untrainedTurns(batch, config.trainTurns);
  const trained = (place: MaskKnob) => mask(place).map((m, i) => (untrained?.[i] ? 0 : m));
  const policyMask = trained('policyTokens');
  /** A mask of the losses, without the tokens that the off-policy correction rejected. */
  const kept = (losses: Float32Array) =>
    config.correction === 'rejected'
      ? losses.map((m, i) => (policyMask[i] !== 0 && batch.lossMask[i] === 0 ? 0 : m))
      : losses;
  const responseTokens = () => responseMask(batch, groups, false);
  const scoredMask = () => responseMask(batch, groups, agentOnly(config, 'advantageTokens'));
  const markWhere = (mask: ArrayLike<number>, is: (i: number) => boolean = () => true) =>
    Uint8Array.from(mask, (m, i) => (m !== 0 && is(i) ? TokenMark.touched : TokenMark.none));
  switch (set) {
    case 'paid':
      return markWhere(batch.rewards);
    case 'klReward':
      return markWhere(mask('klRewardTokens'));
    case 'advantage':
      return markWhere(mask('advantageTokens'));
    case 'solved': {
      const rows = new Set(batch.episodes.filter(({ success }) => success).map((episode) => episode.row));
      return markWhere(mask('advantageTokens'), (i) => rows.has(Math.floor(i / batch.length)));
    }
    case 'scored':
      return markWhere(scoredMask());
    case 'group': {
      const group = batch.episodes.find((episode) => episode.row === row)?.group;
      return markWhere(scoredMask(), (i) => groups[Math.floor(i / batch.length)] === group);
    }
    case 'sameState': {
      const group = batch.episodes.find((episode) => episode.row === row)?.group;
      if (ESTIMATORS[config.estimator].sharesProgress) return markWhere(mask('advantageTokens'));
      const states = turnStates(batch, groups, comparesTurns(config.estimator)?.same ?? 'state');
      const counts = turnsByState(batch, states);
      const isShared = (i: number) =>
        groups[Math.floor(i / batch.length)] === group && (counts.get(states[i]!) ?? 0) > 1;
      return markWhere(mask('advantageTokens'), isShared);
    }
    case 'turnEnds':
      return markWhere((sharesTurnAdvantage(config.estimator) ? turnStarts : turnEnds)(batch, mask('advantageTokens')));
    case 'whiten':
      return markWhere(
        sharesTurnAdvantage(config.estimator) ? turnStarts(batch, mask('advantageTokens')) : mask('whitenTokens'),
      );
    case 'outside': {
      const inside = mask('advantageTokens');
      return markWhere(responseTokens(), (i) => inside[i] === 0);
    }
    case 'kept':
      return markWhere(responseTokens());
    case 'policy':
      return markWhere(kept(policyMask));
    case 'observation':
      return markWhere(observationMask(batch, groups, agentOnly(config, 'policyTokens') ? batch.bodies : undefined));
    case 'negative':
      return markWhere(kept(policyMask), (i) => (batch.advantages[i] ?? 0) < 0);
    case 'clippedLow':
    case 'clippedHigh':
      return clippedMarks(batch, set);
    case 'regularizer':
      return markWhere(kept(trained('regularizerTokens')));
    case 'value':
      return markWhere(
        usesCritic(config.estimator) ? kept(mask('valueTokens')) : new Float32Array(groups.length * batch.length),
      );
  }
}

function clippedMarks(batch: BatchView, side: 'clippedLow' | 'clippedHigh'): Uint8Array {
  const epochs = epochsOf(batch);
  return Uint8Array.from(batch.roles, (_, i) => {
    const isPositive = (batch.advantages[i] ?? 0) > 0;
    if (side === (isPositive ? 'clippedLow' : 'clippedHigh')) return TokenMark.none;
    const clipped = epochs.some(({ policyWeights }) => isClipped({ ...batch, policyWeights }, i));
    return clipped ? (isPositive ? TokenMark.clippedHigh : TokenMark.clippedLow) : TokenMark.none;
  });
}

/** The combined marks of several sets. If several sets touch a token, a mark for clipping takes precedence. */
export function combinedMarks(scene: MarkingInput, sets: readonly TokenSet[]): Uint8Array {
  const all = new Uint8Array(scene.batch.roles.length);
  for (const set of new Set(sets)) {
    tokenMarks(scene, set).forEach((mark, i) => (all[i] = Math.max(all[i]!, mark)));
  }
  return all;
}

export interface MarkCounts {
  readonly inBatch: number; // in the batch
  readonly groupCount: number; // number of groups that have marked tokens
  readonly inRow: number; // in one row
  readonly clippedHigh: number; // in the batch, clipped because their ratio rose
  readonly clippedLow: number; // in the batch, clipped because their ratio fell
}

/** Counts the marks (B,T) of a batch, and of its row `row`. */
export function countMarks(marks: Uint8Array, { length, episodes }: BatchView, row: number): MarkCounts {
  const countWhere = (some: Uint8Array, is: (mark: number) => boolean) =>
    some.reduce((n, mark) => n + (is(mark) ? 1 : 0), 0);
  const any = (mark: number) => mark !== TokenMark.none;
  const marksOfRow = (each: number) => marks.subarray(each * length, (each + 1) * length);
  return {
    inBatch: countWhere(marks, any),
    groupCount: new Set(episodes.flatMap((episode) => (marksOfRow(episode.row).some(any) ? [episode.group] : []))).size,
    inRow: countWhere(marksOfRow(row), any),
    clippedHigh: countWhere(marks, (mark) => mark === TokenMark.clippedHigh),
    clippedLow: countWhere(marks, (mark) => mark === TokenMark.clippedLow),
  };
}
