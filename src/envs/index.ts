import type { RunConfig } from '../config/config.ts';
import type { EnvName } from '../config/environments.ts';
import type { Facts } from '../facts/facts.ts';
import { picked } from '../config/fields.ts';
import { ENV_KNOBS, type EnvSettings, type ToolEnv } from './env.ts';
import { bandit, banditReversed } from './bandit.ts';
import { calculator } from './calculator.ts';
import { countdown } from './countdown.ts';
import { documentSearch } from './documentSearch.ts';
import { worldFacts, yourFacts } from './factSearch.ts';
import { frozenLake } from './frozenLake.ts';
import { multiHop } from './multiHop.ts';
import { numberHunt } from './numberHunt.ts';
import { sokoban } from './sokoban.ts';

type EnvOptions = Omit<RunConfig, 'think'> & { readonly think: boolean };

/** How each environment is made. Each takes of the knobs what it needs. */
const MAKERS: Readonly<Record<EnvName, (options: EnvOptions, facts: Facts | null) => ToolEnv>> = {
  'number-hunt': numberHunt,
  'multi-hop': multiHop,
  'frozen-lake': frozenLake,
  sokoban,
  bandit,
  'bandit-reversed': banditReversed,
  calculator,
  countdown,
  'document-search': documentSearch,
  'world-facts': worldFacts,
  'your-facts': yourFacts,
};

/** The environment a run asks for; `facts` are those it asks about, where it does. Throws ConfigError where they do not do. */
export function createEnv(config: RunConfig, facts: Facts | null = null): ToolEnv {
  return MAKERS[config.env]({ ...config, think: config.think === 'on' }, facts);
}

/** The knobs of an environment that may change between batches. */
export function envSettings(config: RunConfig): EnvSettings {
  return {
    ...picked(config, ENV_KNOBS),
    grammar: config.grammar === 'on',
    rewardOnLastAction: config.rewardOnLastAction === 'on',
  };
}
