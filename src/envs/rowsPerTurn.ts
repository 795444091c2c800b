import { actsIn } from '../config/environments.ts';
import type { RunConfig } from '../config/fields.ts';
import type { ToolEnv } from './env.ts';
import type { EpisodeConditions } from './stepper.ts';

type RowKnobs = Pick<RunConfig, 'rows' | 'shown' | 'shownTurns'>;

/** What a turn shows, if each turn is a training row; empty if an episode is one row. */
export function rowsPerTurn({ rows, shown, shownTurns }: RowKnobs): Pick<EpisodeConditions, 'shownTurns'> {
  if (rows === 'episode') return {};
  return { shownTurns: shown === 'everything' ? Infinity : shownTurns };
}

/**
 * The most tokens of an episode, T of a batch. If each turn is a training row, these stand one after the other and are
 * counted together: in N turns the prompt is shown N times, and each turn and its answer as often as later turns show
 * them. An environment only states the tokens of an episode that shows everything once, so the result can be larger
 * than needed: it assumes the longest prompt that leaves the answers at least one token.
 */
export function rowLength(
  config: RowKnobs & Pick<RunConfig, 'env' | 'maxTurns'>,
  env: Pick<ToolEnv, 'maxTokens' | 'maxTurnTokens' | 'maxTurns'>,
): number {
  const { shownTurns } = rowsPerTurn(config);
  const turns = env.maxTurns ?? (actsIn('maxTurns', config.env) ? config.maxTurns : 1);
  if (shownTurns === undefined || turns === 1) return env.maxTokens;
  const beforeLastTurn = env.maxTokens - env.maxTurnTokens;
  const longestPrompt = Math.max(1, beforeLastTurn - (turns - 1) * (env.maxTurnTokens + 1));
  const turnAndAnswer = (beforeLastTurn - longestPrompt) / (turns - 1);
  const shownAgain = Array.from({ length: turns }, (_, before) => Math.min(before, shownTurns));
  const shownTokens = shownAgain.reduce((sum, each) => sum + each, 0) * turnAndAnswer;
  return Math.ceil(turns * (longestPrompt + env.maxTurnTokens) + shownTokens);
}
