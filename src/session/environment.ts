import { YOUR_ENVIRONMENT } from '../config/environments.ts';
import { ConfigError } from '../config/configProblem.ts';
import type { RunConfig } from '../config/fields.ts';
import { TEXT_AGENT } from '../config/textAgent.ts';
import { type BaseCheckpoint, BaseNeededError } from '../checkpoints/baseCheckpoint.ts';
import type { ToolEnv } from '../envs/env.ts';
import { createEnv } from '../envs/index.ts';
import { languageOf } from '../envs/rowsPerTurn.ts';
import type { Facts } from '../facts/facts.ts';
import type { ChatTokenizerFiles } from '../domain/chatTokenizerFiles.ts';
import type { ChatTokenizer } from '../text/chatTokenizer.ts';
import type { Host } from './host.ts';
import { factsFor } from './shippedFacts.ts';

export interface EnvironmentSources {
  readonly facts: Facts | null; // a person's own facts
  readonly chatTokenizer: ChatTokenizerFiles | null; // the saved run's tokenizer; null: use the shipped text model's
  readonly base?: Pick<BaseCheckpoint, 'chatTokenizer'> | null; // the checkpoint that the run trains adapters for
  readonly isContinued?: boolean; // the run continues from a checkpoint: it is not refused for its warm start
}

/** An environment and the files of its chat tokenizer; null if the agent uses words, or the tokenizer of a checkpoint. */
export interface OpenedEnvironment {
  readonly env: ToolEnv;
  readonly chatTokenizer: ChatTokenizerFiles | null;
}

/**
 * Opens the environment of a run, with the shipped files that it needs. Throws as `createEnv` does, if a file is
 * missing, ConfigError if a new run would imitate on a server, and BaseNeededError if a checkpoint is missing.
 */
export async function openEnvironment(
  config: RunConfig,
  { facts, chatTokenizer, base, isContinued = false }: EnvironmentSources,
  { shippedFile, ownEnvironment }: Pick<Host, 'shippedFile' | 'ownEnvironment'>,
): Promise<OpenedEnvironment> {
  const envFacts = await factsFor(config, facts, shippedFile);
  const create = async (tokenizer: ChatTokenizer | null) => {
    const env =
      config.env === YOUR_ENVIRONMENT && ownEnvironment
        ? await ownEnvironment(languageOf(config, tokenizer))
        : createEnv(config, envFacts, tokenizer);
    return isContinued ? env : refuseOnServer(env, config);
  };
  if (config.model === 'checkpoint') {
    if (!base) throw new BaseNeededError(null, null);
    return { env: await create(base.chatTokenizer), chatTokenizer: null };
  }
  const files = await filesOf(config, chatTokenizer, shippedFile);
  return { env: await create(files && (await openTokenizer(files))), chatTokenizer: files };
}

/** Throws ConfigError for what an environment that answers asynchronously doesn't have: a player to imitate, and `observe`. */
function refuseOnServer(env: ToolEnv, { warmStart, rows, shown }: RunConfig): ToolEnv {
  if (env.asyncAnswers && rows === 'turn' && shown === 'observe') {
    const what = 'observe, but a server has no observe().';
    throw new ConfigError([{ place: 'shown', what, remedy: 'Set shown to everything, last-turns or answers.' }]);
  }
  if (!env.asyncAnswers || warmStart === 'shipped' || warmStart === 'none') return env;
  throw new ConfigError([
    {
      ...{ place: 'warmStart', what: `${warmStart}, but a server has no player to imitate.` },
      remedy: 'Set warmStart to shipped or none.',
    },
  ]);
}

/** Uses the run's saved files or the shipped text model; null if the agent uses words. Throws if a file is missing. */
export async function chatTokenizerOf(
  config: RunConfig,
  savedFiles: ChatTokenizerFiles | null,
  { shippedFile }: Pick<Host, 'shippedFile'>,
): Promise<ChatTokenizer | null> {
  const files = await filesOf(config, savedFiles, shippedFile);
  return files && openTokenizer(files);
}

async function filesOf({ language }: RunConfig, own: ChatTokenizerFiles | null, shippedFile: Host['shippedFile']) {
  return language === 'words' ? null : (own ?? (await shippedChatTokenizer(shippedFile)));
}

// so that the files are read only once
const shippedTokenizers = new WeakMap<Host['shippedFile'], ChatTokenizerFiles>();
const openTokenizers = new WeakMap<ChatTokenizerFiles, ChatTokenizer>();

async function openTokenizer(files: ChatTokenizerFiles): Promise<ChatTokenizer> {
  const cached = openTokenizers.get(files);
  if (cached) return cached;
  // imported here, so that the code of tokenizers and templates is loaded only for runs in text
  const chatTokenizer = (await import('../text/chatTokenizer.ts')).openChatTokenizer(files);
  openTokenizers.set(files, chatTokenizer);
  return chatTokenizer;
}

async function shippedChatTokenizer(shippedFile: Host['shippedFile']): Promise<ChatTokenizerFiles> {
  const cached = shippedTokenizers.get(shippedFile);
  if (cached) return cached;
  const readText = async (name: string) => {
    const bytes = await shippedFile(`${TEXT_AGENT}/${name}`);
    if (bytes) return new TextDecoder().decode(bytes);
    throw new Error(
      `${TEXT_AGENT}/${name}: this file of the shipped text model is missing. Make it: npm run textmodel.`,
    );
  };
  const [tokenizer, template, generation] = await Promise.all(
    ['tokenizer.json', 'chat_template.jinja', 'generation_config.json'].map(readText),
  );
  const { stopIds } = await import('../text/chatTokenizer.ts');
  const files = { tokenizer: tokenizer ?? '', template: template ?? '', stops: stopIds(generation ?? '') };
  shippedTokenizers.set(shippedFile, files);
  return files;
}
