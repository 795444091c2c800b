import type { RunConfig } from '../config.ts';
import type { EnvSettings, ToolEnv } from './env.ts';
import { multiHop } from './multiHop.ts';
import { numberHunt } from './numberHunt.ts';

/** The environment a run asks for. */
export function createEnv(config: RunConfig): ToolEnv {
  const { maxTurns, distractors } = config;
  const think = config.think === 'on';
  switch (config.env) {
    case 'number-hunt':
      return numberHunt({ range: config.range, distractors, maxTurns, think });
    case 'multi-hop': {
      const { entities, relations, hops } = config;
      return multiHop({ entities, relations, hops, distractors, maxTurns, think });
    }
    default:
      return config.env satisfies never;
  }
}

/** The knobs of an environment that may change between batches. */
export function envSettings(config: RunConfig): EnvSettings {
  const { outcomeReward, processReward, invalidPenalty, thinkReward, turnCost, failureRate, oneHopShare } = config;
  return {
    grammar: config.grammar === 'on',
    outcomeReward,
    processReward,
    invalidPenalty,
    thinkReward,
    turnCost,
    rewardOnLastAction: config.rewardOnLastAction === 'on',
    failureRate,
    oneHopShare,
  };
}
