import { TEXT_AGENT } from '../../src/config/textAgent.ts';
import type { ChatTokenizerFiles } from '../../src/domain/chatTokenizerFiles.ts';
import { AGENT_STOPS, agentTokenizer, AGENT_TEMPLATE } from '../../src/text/agentTokenizer.ts';
import { openChatTokenizer } from '../../src/text/chatTokenizer.ts';

/** The shipped template over a tokenizer of bytes alone: what is written does not depend on how it is cut. */
export const BYTES_FILES: ChatTokenizerFiles = {
  tokenizer: agentTokenizer([], 0),
  template: AGENT_TEMPLATE,
  stops: AGENT_STOPS,
};
export const BYTES = openChatTokenizer(BYTES_FILES);

/** Serves that in the place of the shipped text model, without weights. */
export function servesBytes(path: string): Promise<ArrayBuffer | null> {
  const texts: Readonly<Record<string, string>> = {
    [`${TEXT_AGENT}/tokenizer.json`]: BYTES_FILES.tokenizer,
    [`${TEXT_AGENT}/chat_template.jinja`]: BYTES_FILES.template,
    [`${TEXT_AGENT}/generation_config.json`]: JSON.stringify({ eos_token_id: BYTES_FILES.stops }),
  };
  const text = texts[path];
  return Promise.resolve(text === undefined ? null : new TextEncoder().encode(text).buffer);
}
