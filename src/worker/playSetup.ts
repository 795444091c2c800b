import { YOUR_ENVIRONMENT } from '../config/environments.ts';
import type { RunConfig } from '../config/config.ts';
import type { EnvironmentFile } from '../domain/environmentFile.ts';
import type { ToolEnv } from '../envs/env.ts';
import type { Facts } from '../facts/facts.ts';
import type { Speaking } from '../envs/speech.ts';
import { chatTokenizerOf } from '../session/environment.ts';
import type { Host } from '../session/host.ts';
import type { PlaySetup } from '../session/playedGame.ts';
import type { Session } from '../session/session.ts';
import { factsFor } from '../session/shippedFacts.ts';
import { writtenFile } from './writtenFile.ts';

/** What a person brought: facts, and an environment that they wrote. */
interface Brought {
  readonly facts: Facts | null;
  readonly file: EnvironmentFile | null;
}

let open: { readonly file: EnvironmentFile; readonly speaking: Speaking; readonly env: ToolEnv } | null = null;

/** What a game needs besides its knobs: the facts it asks about, the environment a person wrote and, in text, the chat tokenizer; beside a checkpoint that of the checkpoint. */
export async function playSetupFor(
  host: Host,
  own: Brought,
  session: Pick<Session, 'base' | 'chatTokenizer'> | null,
  config: RunConfig,
): Promise<PlaySetup> {
  const [facts, chatTokenizer] = await Promise.all([
    factsFor(config, own.facts, host.shippedFile),
    config.model === 'checkpoint' && session?.base
      ? session.base.chatTokenizer
      : chatTokenizerOf(config, session?.chatTokenizer ?? null, host),
  ]);
  if (config.env !== YOUR_ENVIRONMENT || !own.file) return { facts, chatTokenizer };
  const speaking = { chatTokenizer, think: config.think === 'on' };
  return { facts, chatTokenizer, written: await writtenFor(own.file, speaking) };
}

/** A person's environment in a virtual machine of its own, so that a game touches no run. */
async function writtenFor(file: EnvironmentFile, speaking: Speaking): Promise<ToolEnv> {
  const { chatTokenizer, think } = speaking;
  if (open?.file === file && open.speaking.chatTokenizer === chatTokenizer && open.speaking.think === think)
    return open.env;
  const env = await writtenFile(file).ownEnvironment(speaking);
  open = { file, speaking, env };
  return env;
}
