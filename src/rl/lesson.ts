import type { Credit } from '../model/learningMath.ts';
import type { CreditSettings, ObjectiveSettings, OptimizerSettings } from '../model/learningSettings.ts';
import { type BatchView, behaviourLogprobs } from '../domain/batch.ts';
import { comparesTurns, ESTIMATORS } from '../config/estimators.ts';
import { turnProgress, turnStates } from '../domain/states.ts';
import { learnedGroups, untrainedTurns } from '../domain/tokenMasks.ts';
import type { CreditInput } from '../model/policy.ts';
import { credit } from './credit.ts';

export interface LearnStep {
  readonly rows: Int32Array; // rows of the minibatch
  readonly objective: ObjectiveSettings;
  readonly optimizer: OptimizerSettings;
  readonly temperature: number;
}

/** Together with its batch and the weights before it, enough to repeat the update. */
export interface Lesson {
  readonly credit: CreditSettings;
  readonly steps: readonly LearnStep[];
}

/** What credit reads of a batch beside rewards and groups. */
export function creditMarks(
  batch: Pick<BatchView, 'rows' | 'length' | 'roles' | 'turns' | 'singles' | 'bodies' | 'parts' | 'episodes'>,
  groups: Int32Array,
  { estimator, turnGamma, trainTurns }: Pick<CreditSettings, 'estimator' | 'turnGamma' | 'trainTurns'>,
): Pick<CreditInput, 'singles' | 'bodies' | 'untrained' | 'states' | 'progress' | 'solved'> {
  const { singles, bodies } = batch;
  const untrained = untrainedTurns(batch, trainTurns);
  const like = comparesTurns(estimator);
  const states = like && turnStates(batch, groups, like.same);
  const progress = ESTIMATORS[estimator].sharesProgress && turnProgress(batch, turnGamma);
  const solved = new Uint8Array(batch.rows);
  for (const { row, success } of batch.episodes) solved[row] = Number(success);
  return {
    ...{ singles, solved, ...(bodies && { bodies }), ...(untrained && { untrained }) },
    ...{ ...(states && { states }), ...(progress && { progress }) },
  };
}

export function creditOf(batch: BatchView, settings: CreditSettings, groups = learnedGroups(batch)): Credit {
  const { rows, length, roles, values, logprobs: oldLogprobs, refLogprobs, rewards } = batch;
  const input = { rewards, groups, ...creditMarks(batch, groups, settings), behaviour: behaviourLogprobs(batch) };
  return credit({ rows, length, roles, values, oldLogprobs, refLogprobs }, input, settings);
}
