import type { ChatTokenizerFiles } from '../domain/chatTokenizerFiles.ts';
import { field, isRecord, readJson } from '../formats/jsonFile.ts';
import { type ChatTemplate, chatTemplate } from './chatTemplate.ts';
import type { Codec } from './codec.ts';
import { codecFromTokenizerJson } from './tokenizerFile.ts';

/** What a text model speaks: its tokenizer and how it writes a conversation. */
export interface ChatTokenizer {
  readonly codec: Codec;
  readonly template: ChatTemplate;
  readonly size?: number; // rows of the model's embedding where they are more than the tokenizer's ids
}

/** The chat tokenizer of a folder's texts. Throws ProblemError where one of them is not what it should be. */
export function openChatTokenizer({ tokenizer, template, stops }: ChatTokenizerFiles): ChatTokenizer {
  const codec = codecFromTokenizerJson(new TextEncoder().encode(tokenizer), { stops });
  return { codec, template: chatTemplate(template, {}, 'chat_template.jinja') };
}

/** eos_token_id of a generation_config.json: the ids that end a turn; none where it names none. Throws ProblemError on what is no JSON. */
export function stopIds(generation: string): readonly number[] {
  const read = readJson('generation_config.json', new TextEncoder().encode(generation));
  const ends = isRecord(read) ? field(read, 'eos_token_id') : undefined;
  const ids: readonly unknown[] = Array.isArray(ends) ? ends : [ends];
  return ids.filter((id) => typeof id === 'number');
}
