import type { RunConfig } from '../config/config.ts';
import { type OfferedEnv, YOUR_ENVIRONMENT } from '../config/environments.ts';
import { ConfigError } from '../config/configProblem.ts';
import type { Problem } from '../base/problem.ts';
import type { Facts } from '../facts/facts.ts';
import { pickKnobs } from '../config/fields.ts';
import { ENV_KNOBS, type EnvSettings, type ToolEnv } from './env.ts';
import { bandit, banditReversed } from './bandit.ts';
import { calculator } from './calculator.ts';
import { countdown } from './countdown.ts';
import { documentSearch } from './documentSearch.ts';
import { worldFacts, yourFacts } from './factSearch.ts';
import { frozenLake } from './frozenLake.ts';
import { multiHop } from './multiHop.ts';
import { numberHunt } from './numberHunt.ts';
import type { ChatTokenizer } from '../text/chatTokenizer.ts';
import { sokoban } from './sokoban.ts';

type EnvOptions = Omit<RunConfig, 'think'> & { readonly think: boolean; readonly chatTokenizer: ChatTokenizer | null };

const MAKERS: Readonly<Record<OfferedEnv, (options: EnvOptions, facts: Facts | null) => ToolEnv>> = {
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

/**
 * Makes the environment that a configuration asks for. `facts` are only used by environments that ask about facts,
 * `chatTokenizer` only if the agent plays in text. Throws ConfigError if the facts are missing or unsuitable, if the
 * run needs text and there is no chat tokenizer, or for an environment that a person wrote, which needs its file.
 * Throws ProblemError if the tokenizer's chat template changes earlier messages.
 */
export function createEnv(
  config: RunConfig,
  facts: Facts | null = null,
  chatTokenizer: ChatTokenizer | null = null,
): ToolEnv {
  if (config.env === YOUR_ENVIRONMENT) throw new ConfigError([NO_FILE]);
  if (config.language === 'text' && !chatTokenizer) throw new ConfigError([NO_CHAT_TOKENIZER]);
  return MAKERS[config.env](
    { ...config, think: config.think === 'on', chatTokenizer: config.language === 'text' ? chatTokenizer : null },
    facts,
  );
}

const NO_CHAT_TOKENIZER: Problem = {
  ...{ place: 'language', what: 'text needs a language model, and there is none.' },
  remedy: 'Set it to words, or begin from a model that speaks text.',
};

const NO_FILE: Problem = {
  ...{ place: 'env', what: 'an environment that you wrote needs its file.' },
  remedy:
    'Write or open one under Your environment (#/environment), or name its file: npm run train -- --env-file FILE.ts.',
};

export function envSettings(config: RunConfig): EnvSettings {
  return {
    ...pickKnobs(config, ENV_KNOBS),
    grammar: config.grammar === 'on',
    rewardOnLastAction: config.rewardOnLastAction === 'on',
    ...(config.retokenize === 'on' && { retokenize: true }),
  };
}
