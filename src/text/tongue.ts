import { type ChatTemplate, chatTemplate } from './chatTemplate.ts';
import type { Codec } from './codec.ts';
import { codecFromTokenizerJson } from './tokenizerFile.ts';

/** What a text model speaks: its tokenizer and how it writes a conversation. */
export interface Tongue {
  readonly codec: Codec;
  readonly template: ChatTemplate;
  readonly size?: number; // rows of the model's embedding where they are more than the tokenizer's ids
}

/** The texts a tongue is made of, as a model's folder has them. */
export interface TongueFiles {
  readonly tokenizer: string; // tokenizer.json
  readonly template: string; // chat_template.jinja
  readonly stops: readonly number[]; // eos_token_id of generation_config.json
}

/** The tongue of a folder's texts. Throws FormatError where one of them is not what it should be. */
export function openTongue({ tokenizer, template, stops }: TongueFiles): Tongue {
  const codec = codecFromTokenizerJson(new TextEncoder().encode(tokenizer), { stops });
  return { codec, template: chatTemplate(template, {}, 'chat_template.jinja') };
}
