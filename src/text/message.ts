import type { JsonRecord } from '../base/jsonRecord.ts';

/** A tool call in a message, in the format of Hugging Face and OpenAI. */
export interface MessageCall {
  readonly type: 'function';
  readonly function: { readonly name: string; readonly arguments: JsonRecord };
}

/** A message of a conversation, in the form that chat templates expect. */
export interface Message {
  readonly role: string; // system, user, assistant, tool
  readonly content: string;
  readonly tool_calls?: readonly MessageCall[];
}
