import type { ChatTokenizerFiles } from '../domain/chatTokenizerFiles.ts';
import { field, isRecord } from '../base/jsonRecord.ts';
import { readJson } from '../formats/jsonFile.ts';
import { type ChatTemplate, chatTemplate } from './chatTemplate.ts';
import type { Codec } from './codec.ts';
import { codecFromTokenizerJson } from './tokenizerFile.ts';

export interface ChatTokenizer {
  readonly codec: Codec;
  readonly template: ChatTemplate;
  readonly embeddingRows?: number; // rows of the model's embedding, if there are more of them than ids of the tokenizer
}

/** Opens the chat tokenizer from the texts of its files. Throws ProblemError if one of them can't be used. */
export function openChatTokenizer({ tokenizer, template, stops }: ChatTokenizerFiles): ChatTokenizer {
  const codec = codecFromTokenizerJson(new TextEncoder().encode(tokenizer), { stops });
  return { codec, template: chatTemplate(template, {}, 'chat_template.jinja') };
}

/**
 * The ids that end a turn: `eos_token_id` of a generation_config.json; empty if it has none. Throws ProblemError if it
 * is not JSON.
 */
export function stopIds(generation: string): readonly number[] {
  const read = readJson('generation_config.json', new TextEncoder().encode(generation));
  const eosId = isRecord(read) ? field(read, 'eos_token_id') : undefined;
  const ids: readonly unknown[] = Array.isArray(eosId) ? eosId : [eosId];
  return ids.filter((id) => typeof id === 'number');
}
