import type { JsonRecord } from '../formats/jsonFile.ts';

/** A call in a message, as Hugging Face and OpenAI write it. */
export interface MessageCall {
  readonly type: 'function';
  readonly function: { readonly name: string; readonly arguments: JsonRecord };
}

/** A message of a conversation, as chat templates take them. */
export interface Message {
  readonly role: string; // system, user, assistant, tool
  readonly content: string;
  readonly tool_calls?: readonly MessageCall[];
}
