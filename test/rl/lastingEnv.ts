import { parseConfig } from '../../src/config/config.ts';
import type { EnvSettings, Episode, ToolEnv, TurnResult } from '../../src/envs/env.ts';
import { createEnv, envSettings } from '../../src/envs/index.ts';
import type { Grammar } from '../../src/domain/tokens.ts';

/** Settings that `lastingEnv` does not look at. */
export const SETTINGS: EnvSettings = envSettings(parseConfig({ env: 'number-hunt' }));

/**
 * An environment whose task of seed s lasts s % 10 turns of at most `draws` tokens in grammar state 1. Its prompt is three tokens
 * that tell seeds apart; each observation is one.
 */
export function lastingEnv(grammar: Grammar, draws: number): ToolEnv {
  const env = createEnv(parseConfig({ env: 'number-hunt' }));
  const any = env.reset(0, SETTINGS);
  const reset = (seed: number): Episode => {
    let left = seed % 10;
    const step = (): TurnResult => ({
      observation: --left > 0 ? [4] : [],
      body: [0, 1],
      parts: { outcome: 0, process: 0, call: 0, format: 0, think: 0, turnCost: 0, preference: 0, information: 0 },
      thinkEnd: -1,
      valid: true,
      toolCall: false,
      waited: 0,
      success: false,
      stop: left === 0 ? 'answered' : null,
      grammarState: 1,
    });
    return { ...any, prompt: [1, Math.floor(seed / 10) % 10, seed % 10], grammarState: 1, step };
  };
  return { ...env, maxTurnTokens: draws, grammar: () => grammar, reset };
}
