import type { RunConfig } from '../config/config.ts';
import { contradictions } from '../config/contradictions.ts';
import { ConfigError, type Problem } from '../config/problem.ts';
import { createEnv, envSettings } from '../envs/index.ts';
import { playExpert, playTokens } from '../envs/players.ts';
import type { ToolEnv } from '../envs/env.ts';
import type { Facts } from '../facts/facts.ts';
import type { PlayedTask } from '../domain/played.ts';
import type { Answer } from '../wire/questions.ts';

/**
 * Where people play: an environment of its own, made of the knobs and the facts it asks about alone, so that no run, policy or
 * draw is touched. Everything follows from the task: the same seeds and tokens give the same episode. What cannot be is
 * `refused`, with the reason.
 */
export function openTable(): (task: PlayedTask, facts?: Facts | null) => Answer {
  let open: { readonly config: RunConfig; readonly facts: Facts | null; readonly env: ToolEnv } | null = null;
  const envOf = (config: RunConfig, facts: Facts | null): ToolEnv => {
    if (open?.facts === facts && sameKnobs(open.config, config)) return open.env;
    if (config.language === 'text') throw new ConfigError([NO_HAND]);
    const problems = contradictions(config);
    if (problems.length > 0) throw new ConfigError(problems);
    open = { config, facts, env: createEnv(config, facts) };
    return open.env;
  };
  return ({ config, seed, luck, tokens }, facts = null) => {
    try {
      const env = envOf(config, facts);
      const table = { env, settings: envSettings(config) };
      const task = { seed, luck };
      const played = playTokens(table, task, tokens);
      const expert = played.stop === null ? null : playExpert(table, task);
      return { kind: 'play', vocabulary: env.vocabulary, played, expert };
    } catch (error) {
      return { kind: 'refused', message: error instanceof Error ? error.message : String(error) };
    }
  };
}

const NO_HAND: Problem = {
  ...{
    kind: 'odd',
    field: 'language',
    got: 'text',
    want: 'nobody writes text token by token, so a task in text is played by a model alone',
  },
  do: 'Set it to words to play yourself, or ask the model a task of your own under Talk.',
};

function sameKnobs(a: RunConfig, b: RunConfig): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}
