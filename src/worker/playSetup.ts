import { YOUR_ENVIRONMENT } from '../config/environments.ts';
import type { RunConfig } from '../config/config.ts';
import type { EnvironmentFile } from '../domain/environmentFile.ts';
import type { ToolEnv } from '../envs/env.ts';
import type { Facts } from '../facts/facts.ts';
import { languageOf } from '../envs/rowsPerTurn.ts';
import type { AgentLanguage } from '../envs/turnCodec.ts';
import { chatTokenizerOf } from '../session/environment.ts';
import type { Host } from '../session/host.ts';
import type { PlaySetup } from '../session/playedGame.ts';
import type { Session } from '../session/session.ts';
import { factsFor } from '../session/shippedFacts.ts';
import { ownEnvironmentOpener } from './ownEnvironmentOpener.ts';

/** The person's own facts and environment. */
interface PersonsFiles {
  readonly facts: Facts | null;
  readonly file: EnvironmentFile | null;
}

let openEnvironment: {
  readonly file: EnvironmentFile;
  readonly speaking: AgentLanguage;
  readonly env: ToolEnv;
} | null = null;

/**
 * Returns what a game needs besides its knobs: the facts, the person's own environment and, in text, the chat
 * tokenizer. If the run trains on a checkpoint, the tokenizer is the checkpoint's.
 */
export async function playSetupFor(
  host: Host,
  personsFiles: PersonsFiles,
  session: Pick<Session, 'base' | 'chatTokenizer'> | null,
  config: RunConfig,
): Promise<PlaySetup> {
  const [facts, chatTokenizer] = await Promise.all([
    factsFor(config, personsFiles.facts, host.shippedFile),
    config.model === 'checkpoint' && session?.base
      ? session.base.chatTokenizer
      : chatTokenizerOf(config, session?.chatTokenizer ?? null, host),
  ]);
  if (config.env !== YOUR_ENVIRONMENT || !personsFiles.file) return { facts, chatTokenizer };
  const speaking = languageOf(config, chatTokenizer);
  return { facts, chatTokenizer, written: await writtenFor(personsFiles.file, speaking) };
}

/**
 * Opens a person's environment in its own virtual machine, so that a game does not affect a run. The last one stays
 * open.
 */
async function writtenFor(file: EnvironmentFile, speaking: AgentLanguage): Promise<ToolEnv> {
  const { chatTokenizer, think, observes } = speaking;
  if (
    openEnvironment?.file === file &&
    openEnvironment.speaking.chatTokenizer === chatTokenizer &&
    openEnvironment.speaking.think === think &&
    openEnvironment.speaking.observes === observes
  )
    return openEnvironment.env;
  const env = await ownEnvironmentOpener(file).ownEnvironment(speaking);
  openEnvironment = { file, speaking, env };
  return env;
}
