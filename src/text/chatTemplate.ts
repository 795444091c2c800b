import { field, type JsonRecord } from '../formats/jsonFile.ts';
import { ProblemError } from '../base/problem.ts';
import { jinja } from './jinja.ts';
import type { Message } from './message.ts';
import type { ToolSchema } from './toolSchema.ts';

/** How a checkpoint writes a conversation. */
export interface ChatTemplate {
  readonly file: string; // where it stands, for messages
  /** The text of a conversation, up to where the assistant begins to write where `asks` is set. Throws ProblemError where the template refuses it. */
  readonly write: (messages: readonly Message[], tools: readonly ToolSchema[] | null, asks: boolean) => string;
  readonly listsTools: boolean; // tools given are written
  readonly hasToolRole: boolean; // messages of role `tool` are written as more than any other role
}

/** Texts that a template may name: `bos_token`, `eos_token` and others. */
export type TemplateTokens = Readonly<Record<string, string>>;

/** Templates by the names that `apply_chat_template` looks for; one of them is there. */
export interface NamedTemplates {
  readonly default?: string; // for conversations that the other is not for
  readonly tool_use?: string; // for conversations with tools
}

const REMEDY = 'Choose a checkpoint with a chat template for turns with tools, such as SmolLM2, Qwen2.5 or Qwen3.';
const LONGEST = 1 << 18; // letters of a template; Llama 3.1's has 4,600

/** A tool that is only shown to a template to see whether it writes it. */
const PROBE: ToolSchema = {
  type: 'function',
  function: { name: 'probe', description: 'Probe.', parameters: { type: 'object', properties: {}, required: [] } },
};

/**
 * A chat template (Jinja, as `apply_chat_template` of Transformers runs it), or a plain one and one for tools. `strftime_now` is not defined, so
 * that equal conversations are equal texts. Throws ProblemError where one is not Jinja, or does not write a system, a user's and an assistant's message.
 */
export function chatTemplate(
  source: string | NamedTemplates,
  tokens: TemplateTokens = {},
  file = 'chat_template',
): ChatTemplate {
  const fail = (place: string, got: string, want: string) =>
    new ProblemError([{ file, place, got, want, remedy: REMEDY }]);
  const parsed = (text: string | undefined, name: string) => {
    if (text === undefined) return null;
    if (text.length > LONGEST) throw fail(name, `${text.length} letters`, `at most ${LONGEST}`);
    try {
      return jinja(text);
    } catch (error) {
      throw fail(name, errorText(error), 'a Jinja template');
    }
  };
  const named = typeof source === 'string' ? { default: source } : source;
  const plain = parsed(named.default, '');
  const forTools = parsed(named.tool_use, 'tool_use');
  const write: ChatTemplate['write'] = (messages, tools, asks) => {
    const render = tools && forTools ? forTools : plain;
    if (!render) throw fail('', 'a template for conversations with tools alone', 'one called default');
    try {
      const variables = { messages: messages.map(asTemplatesReadIt), tools, documents: null };
      return render({ ...tokens, ...variables, add_generation_prompt: asks });
    } catch (error) {
      throw fail(messages.map(({ role }) => role).join(', '), errorText(error), 'a conversation it can write');
    }
  };
  const spoken = [...TALK, { role: 'assistant', content: 'Three.' }];
  const written = write(spoken, plain ? null : [PROBE], false);
  const missing = spoken.find(({ content }) => !written.includes(content));
  if (missing) throw fail(missing.role, 'a text without the message', 'the text of every message');
  const listed = attempted(() => write(TALK, [PROBE], true));
  const listsTools = listed !== null && listed !== attempted(() => write(TALK, null, true));
  return { file, write, listsTools, hasToolRole: knowsTools(write, listsTools ? [PROBE] : null) };
}

/** Names that a message's thoughts go by; templates read the first, some the second. */
const THOUGHTS = ['reasoning_content', 'thinking', 'reasoning'] as const;

/** A message as Transformers hands it on: nothing that is null, thoughts by both names. */
function asTemplatesReadIt(message: Message): JsonRecord {
  const entries = Object.entries(message).filter(([, value]) => value !== null && value !== undefined);
  const read: JsonRecord = Object.fromEntries(entries);
  const thought = THOUGHTS.map((name) => field(read, name)).find((value) => value !== undefined);
  return thought === undefined ? read : { thinking: thought, ...read, reasoning_content: thought };
}

const TALK: readonly Message[] = [
  { role: 'system', content: 'Two.' },
  { role: 'user', content: 'One.' },
];

/** Whether a message of role `tool` is more to a template than its name: one of a role that nobody has must be written otherwise. */
function knowsTools(write: ChatTemplate['write'], tools: readonly ToolSchema[] | null): boolean {
  const asRole = (role: string) =>
    attempted(() =>
      write([...TALK, { role: 'assistant', content: 'Three.' }, { role, content: 'Four.' }], tools, true),
    );
  const tool = asRole('tool');
  return tool !== null && tool.includes('Four.') && asRole('nobody')?.replaceAll('nobody', 'tool') !== tool;
}

/** What `write` returns, null where the template refuses. */
function attempted(write: () => string): string | null {
  try {
    return write();
  } catch (error) {
    if (error instanceof ProblemError) return null;
    throw error;
  }
}

const errorText = (error: unknown) =>
  error instanceof Error ? `${error.name}: ${error.message.split('\n', 1)[0] ?? ''}` : String(error);
