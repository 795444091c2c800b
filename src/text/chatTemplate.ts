import { FormatError } from '../formats/problem.ts';
import { jinja } from './jinja.ts';
import type { Message } from './message.ts';
import type { ToolSchema } from './toolSchema.ts';

/** How a checkpoint writes a conversation. */
export interface ChatTemplate {
  readonly file: string; // where it stands, for messages
  /** The text of a conversation, up to where the assistant begins to write where `asks` is set. Throws FormatError where the template refuses it. */
  readonly write: (messages: readonly Message[], tools: readonly ToolSchema[] | null, asks: boolean) => string;
  readonly listsTools: boolean; // tools given are written
  readonly hasToolRole: boolean; // messages of role `tool` are written as more than any other role
}

/** Texts that a template may name. */
export interface TemplateTokens {
  readonly bos_token?: string;
  readonly eos_token?: string;
}

const REMEDY = 'Choose a checkpoint with a chat template for turns with tools, such as SmolLM2, Qwen2.5 or Qwen3.';
const LONGEST = 1 << 18; // letters of a template; Llama 3.1's has 4,600

/** A tool that is only shown to a template to see whether it writes it. */
const PROBE: ToolSchema = {
  type: 'function',
  function: { name: 'probe', description: 'Probe.', parameters: { type: 'object', properties: {}, required: [] } },
};

/**
 * A chat template (Jinja, as `apply_chat_template` of Transformers runs it). `strftime_now` is not defined, so that equal conversations are
 * equal texts. Throws FormatError where it is not Jinja, or does not write a system, a user's and an assistant's message.
 */
export function chatTemplate(source: string, tokens: TemplateTokens = {}, file = 'chat_template'): ChatTemplate {
  const fail = (place: string, got: string, want: string) =>
    new FormatError([{ file, place, got, want, remedy: REMEDY }]);
  if (source.length > LONGEST) throw fail('', `${source.length} letters`, `at most ${LONGEST}`);
  let render: ReturnType<typeof jinja>;
  try {
    render = jinja(source);
  } catch (error) {
    throw fail('', said(error), 'a Jinja template');
  }
  const write: ChatTemplate['write'] = (messages, tools, asks) => {
    try {
      return render({ ...tokens, messages, tools, documents: null, add_generation_prompt: asks });
    } catch (error) {
      throw fail(messages.map(({ role }) => role).join(', '), said(error), 'a conversation it can write');
    }
  };
  const spoken = [...TALK, { role: 'assistant', content: 'Three.' }];
  const written = write(spoken, null, false);
  const missing = spoken.find(({ content }) => !written.includes(content));
  if (missing) throw fail(missing.role, 'a text without the message', 'the text of every message');
  return {
    file,
    write,
    listsTools: attempted(() => write(TALK, [PROBE], true)) !== write(TALK, null, true),
    hasToolRole: knowsTools(write),
  };
}

const TALK: readonly Message[] = [
  { role: 'system', content: 'Two.' },
  { role: 'user', content: 'One.' },
];

/** Whether a message of role `tool` is more to a template than its name: one of a role that nobody has must be written otherwise. */
function knowsTools(write: ChatTemplate['write']): boolean {
  const asRole = (role: string) =>
    attempted(() => write([...TALK, { role: 'assistant', content: 'Three.' }, { role, content: 'Four.' }], null, true));
  const tool = asRole('tool');
  return tool !== null && tool.includes('Four.') && asRole('nobody')?.replaceAll('nobody', 'tool') !== tool;
}

/** What `write` returns, null where the template refuses. */
function attempted(write: () => string): string | null {
  try {
    return write();
  } catch (error) {
    if (error instanceof FormatError) return null;
    throw error;
  }
}

const said = (error: unknown) =>
  error instanceof Error ? `${error.name}: ${error.message.split('\n', 1)[0] ?? ''}` : String(error);
