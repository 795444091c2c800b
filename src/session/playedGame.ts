import type { RunConfig } from '../config/config.ts';
import { YOUR_ENVIRONMENT } from '../config/environments.ts';
import { contradictions } from '../config/contradictions.ts';
import { ConfigError } from '../config/configProblem.ts';
import { createEnv, envSettings } from '../envs/index.ts';
import { playExpert, playTokens } from '../envs/players.ts';
import type { ToolEnv } from '../envs/env.ts';
import type { Facts } from '../facts/facts.ts';
import type { PlayedTask } from '../domain/playedTask.ts';
import type { ChatTokenizer } from '../text/chatTokenizer.ts';
import { typedTurn } from '../text/outsideText.ts';
import type { Answer } from '../wire/questions.ts';

export interface PlaySetup {
  readonly facts?: Facts | null; // the person's own facts
  readonly chatTokenizer?: ChatTokenizer | null; // only if the environment uses text
  readonly written?: ToolEnv | null; // an environment that a person wrote, opened only for games
}

/**
 * Opens a game in which a person plays tasks. It has its own environment, so it doesn't affect any run, policy or
 * random draw. The returned function plays a task: the same seeds and tokens always give the same episode. It encodes a
 * typed turn, and its answer contains the ids. If something is impossible, the answer is `refused`, with the reason.
 */
export function openGame(): (task: PlayedTask, setup?: PlaySetup) => Answer {
  let open: (Required<PlaySetup> & { readonly config: RunConfig; readonly env: ToolEnv }) | null = null;
  const envOf = (config: RunConfig, setup: Required<PlaySetup>): ToolEnv => {
    const { facts, chatTokenizer, written } = setup;
    if (config.env === YOUR_ENVIRONMENT && written) return written;
    if (open?.facts === facts && open.chatTokenizer === chatTokenizer && sameKnobs(open.config, config))
      return open.env;
    const problems = contradictions(config);
    if (problems.length > 0) throw new ConfigError(problems);
    const env = createEnv(config, facts, chatTokenizer);
    open = { config, ...setup, env };
    return env;
  };
  return (
    { config, seed, environmentSeed, tokens: earlierTokens, typed },
    { facts = null, chatTokenizer = null, written = null } = {},
  ) => {
    try {
      const env = envOf(config, { facts, chatTokenizer, written });
      const conditions = { env, settings: envSettings(config) };
      const task = { seed, environmentSeed };
      const before = playTokens(conditions, task, earlierTokens);
      const turn = typed === undefined || !chatTokenizer ? [] : typedTurn(chatTokenizer.codec, typed, before.budget);
      const tokens = [...earlierTokens, ...turn];
      const played = turn.length === 0 ? before : playTokens(conditions, task, tokens);
      const expert = played.stop === null ? null : playExpert(conditions, task);
      const episode = chatTokenizer ? { ...played, legal: [] } : played;
      const tools = chatTokenizer && env.tools.map(({ name }) => name);
      return { kind: 'play', vocabulary: env.vocabulary, tokens, tools, played: episode, expert };
    } catch (error) {
      return { kind: 'refused', message: error instanceof Error ? error.message : String(error) };
    }
  };
}

function sameKnobs(a: RunConfig, b: RunConfig): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}
