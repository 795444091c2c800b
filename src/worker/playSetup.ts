import type { RunConfig } from '../config/config.ts';
import type { Facts } from '../facts/facts.ts';
import { chatTokenizerOf } from '../session/environment.ts';
import type { Host } from '../session/host.ts';
import type { PlaySetup } from '../session/playTable.ts';
import type { Session } from '../session/session.ts';
import { factsFor } from '../session/shippedFacts.ts';

/** What a game needs besides its knobs: the facts it asks about and, in text, the chat tokenizer; beside a checkpoint that of the checkpoint. */
export async function playSetupFor(
  host: Host,
  ownFacts: Facts | null,
  session: Pick<Session, 'base' | 'chatTokenizer'> | null,
  config: RunConfig,
): Promise<PlaySetup> {
  const [facts, chatTokenizer] = await Promise.all([
    factsFor(config, ownFacts, host.shippedFile),
    config.model === 'checkpoint' && session?.base
      ? session.base.chatTokenizer
      : chatTokenizerOf(config, session?.chatTokenizer ?? null, host),
  ]);
  return { facts, chatTokenizer };
}
