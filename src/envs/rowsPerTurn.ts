import { actsIn } from '../config/environments.ts';
import type { RunConfig } from '../config/fields.ts';
import type { ToolEnv } from './env.ts';
import type { ChatTokenizer } from '../text/chatTokenizer.ts';
import type { EpisodeConditions } from './stepper.ts';
import type { AgentLanguage } from './turnCodec.ts';

type RowKnobs = Pick<RunConfig, 'rows' | 'shown' | 'shownTurns'>;

/** What a turn shows, if each turn is a training row; empty if an episode is one row. */
export function rowsPerTurn({ rows, shown, shownTurns }: RowKnobs): Pick<EpisodeConditions, 'shown'> {
  if (rows === 'episode') return {};
  // what `observe` returns stands in the place of the newest answer
  const turns = { everything: Infinity, answers: Infinity, 'last-turns': shownTurns, observe: 0 }[shown];
  return { shown: { turns, actions: shown !== 'answers' } };
}

/** The language in which an agent with these knobs meets an environment of a person's own. */
export function languageOf(
  config: RowKnobs & Pick<RunConfig, 'think'>,
  chatTokenizer: ChatTokenizer | null,
): AgentLanguage {
  const observes = config.rows === 'turn' && config.shown === 'observe';
  return { chatTokenizer, think: config.think === 'on', observes };
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
  const { shown } = rowsPerTurn(config);
  const turns = env.maxTurns ?? (actsIn('maxTurns', config.env) ? config.maxTurns : 1);
  if (!shown || turns === 1) return env.maxTokens;
  const beforeLastTurn = env.maxTokens - env.maxTurnTokens;
  const longestPrompt = Math.max(1, beforeLastTurn - (turns - 1) * (env.maxTurnTokens + 1));
  const turnAndAnswer = (beforeLastTurn - longestPrompt) / (turns - 1);
  const shownAgain = Array.from({ length: turns }, (_, before) => Math.min(before, shown.turns));
  const shownTokens = shownAgain.reduce((sum, each) => sum + each, 0) * turnAndAnswer;
  return Math.ceil(turns * (longestPrompt + env.maxTurnTokens) + shownTokens);
}
