import { MAX_REWARD } from '../domain/episode.ts';
import { EnvironmentFileError } from '../domain/environmentFile.ts';
import type { Statics } from './script/sandbox.ts';

/** The settings in an environment class's static fields, with defaults filled in. */
export interface ClassSettings {
  readonly tasks: { readonly train: number; readonly test: number };
  readonly maxTurns: number;
  /** Weight of each part of the reward, by name. A part without a weight has weight 1. */
  readonly weights: Readonly<Record<string, number>>;
}

const MAX_TASKS = 1_000_000;
const MAX_TURNS = 64;

/**
 * Checks the static fields and fills in defaults. Throws EnvironmentFileError if a value is out of range or of the
 * wrong type.
 */
export function classSettings({ tasks, maxTurns = 8, weights = {} }: Statics): ClassSettings {
  const counts = { train: 1000, test: 200, ...(typeof tasks === 'object' ? tasks : {}) };
  for (const split of ['train', 'test'] as const) {
    if (!Number.isInteger(counts[split]) || counts[split] < 1 || counts[split] > MAX_TASKS) {
      throw new EnvironmentFileError(
        `tasks.${split} is ${String(counts[split])}. Write a whole number from 1 to ${MAX_TASKS}: static tasks = { train: 400, test: 100 }.`,
        null,
      );
    }
  }
  if (typeof maxTurns !== 'number' || !Number.isInteger(maxTurns) || maxTurns < 1 || maxTurns > MAX_TURNS) {
    throw new EnvironmentFileError(
      `maxTurns is ${String(maxTurns)}. Write a whole number from 1 to ${MAX_TURNS}.`,
      null,
    );
  }
  const entries = Object.entries(typeof weights === 'object' && weights !== null ? weights : {});
  const badEntry = entries.find(([, weight]) => typeof weight !== 'number' || !(Math.abs(weight) <= MAX_REWARD));
  if (badEntry)
    throw new EnvironmentFileError(
      `weights.${badEntry[0]} is ${String(badEntry[1])}. Write a number up to a million.`,
      null,
    );
  return {
    tasks: { train: counts.train, test: counts.test },
    maxTurns,
    weights: Object.fromEntries(entries) as ClassSettings['weights'],
  };
}

/** The reward of an episode: the sum of its parts, each times its weight. */
export function weightedReward(parts: Readonly<Record<string, unknown>>, { weights }: ClassSettings): number {
  // hasOwn, because a part may be called toString
  const weight = (name: string) => (Object.hasOwn(weights, name) ? (weights[name] ?? 1) : 1);
  return Object.entries(parts).reduce((sum, [name, value]) => sum + weight(name) * Number(value), 0);
}

/** Says that the reward of an episode is too large for training; null if it isn't. */
export function rewardProblem(parts: Readonly<Record<string, unknown>>, settings: ClassSettings): string | null {
  const reward = weightedReward(parts, settings);
  if (Math.abs(reward) <= MAX_REWARD) return null;
  return `The reward is ${reward}, the sum of its parts times their weights. It has to be a number up to a million.`;
}

/**
 * True if an episode counts as solved: the part that `weights` names first is at least 1. Without weights, the first
 * part of the reward decides.
 */
export function isSolved(parts: Readonly<Record<string, unknown>>, { weights }: ClassSettings): boolean {
  const [first = ''] = [...Object.keys(weights), ...Object.keys(parts)];
  return Object.hasOwn(parts, first) && Number(parts[first]) >= 1;
}
