import { field, type JsonRecord } from '../base/jsonRecord.ts';
import { ProblemError } from '../base/problem.ts';
import type { ToolSchema } from './toolSchema.ts';
import { Environment, parse, tokenize } from '@huggingface/jinja';
import { type Node, prepareTemplate, PythonInterpreter } from './pythonInterpreter.ts';
import { pythonText } from './pythonValues.ts';

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

/** The chat template of a checkpoint, which writes a conversation as text. */
export interface ChatTemplate {
  readonly file: string; // name for error messages
  /**
   * The text of a conversation. With `asks` it ends with the beginning of an assistant's message. Throws ProblemError
   * if the template refuses the conversation.
   */
  readonly write: (messages: readonly Message[], tools: readonly ToolSchema[] | null, asks: boolean) => string;
  readonly listsTools: boolean; // true: the template writes the tools that it is given
  /** True: the template treats messages of role `tool` differently from those of an unknown role. */
  readonly hasToolRole: boolean;
}

/** Texts that a template can use as variables: `bos_token`, `eos_token` and others. */
export type TemplateTokens = Readonly<Record<string, string>>;

/** Templates by the names that `apply_chat_template` looks for. At least one is present. */
export interface NamedTemplates {
  readonly default?: string; // for all conversations that `tool_use` doesn't apply to
  readonly tool_use?: string; // for conversations with tools
}

const REMEDY = 'Choose a checkpoint with a chat template for turns with tools, such as SmolLM2, Qwen2.5 or Qwen3.';

/** A tool for testing whether a template lists the tools that it is given. */
const PROBE_TOOL: ToolSchema = {
  type: 'function',
  function: { name: 'probe', description: 'Probe.', parameters: { type: 'object', properties: {}, required: [] } },
};

/**
 * Parses a chat template, or a default one and one for tools. They are Jinja templates and run as in
 * `apply_chat_template` of Transformers, but `strftime_now` is not defined, so that equal conversations give equal
 * texts. Throws ProblemError if a template is not Jinja, or leaves out a message of the system, the user or the
 * assistant.
 */
export function chatTemplate(
  source: string | NamedTemplates,
  tokens: TemplateTokens = {},
  file = 'chat_template',
): ChatTemplate {
  const fail = (place: string, got: string, want: string) =>
    new ProblemError([{ file, place, got, want, remedy: REMEDY }]);
  const parseTemplate = (text: string | undefined, name: string) => {
    if (text === undefined) return null;
    try {
      return jinja(text);
    } catch (error) {
      throw fail(name, errorText(error), 'a Jinja template');
    }
  };
  const templates = typeof source === 'string' ? { default: source } : source;
  const renderDefault = parseTemplate(templates.default, '');
  const renderWithTools = parseTemplate(templates.tool_use, 'tool_use');
  const write: ChatTemplate['write'] = (messages, tools, asks) => {
    const render = tools && renderWithTools ? renderWithTools : renderDefault;
    if (!render) throw fail('', 'only a template for conversations with tools', 'a template named default');
    try {
      const variables = { messages: messages.map(templateMessage), tools, documents: null };
      return render({ ...tokens, ...variables, add_generation_prompt: asks });
    } catch (error) {
      throw fail(messages.map(({ role }) => role).join(', '), errorText(error), 'a template for such conversations');
    }
  };
  const conversation = [...CONVERSATION, { role: 'assistant', content: 'Three.' }];
  const written = write(conversation, renderDefault ? null : [PROBE_TOOL], false);
  const missing = conversation.find(({ content }) => !written.includes(content));
  if (missing) throw fail(missing.role, 'a text without the message', 'the text of every message');
  const withTools = writtenOrNull(() => write(CONVERSATION, [PROBE_TOOL], true));
  const listsTools = withTools !== null && withTools !== writtenOrNull(() => write(CONVERSATION, null, true));
  return { file, write, listsTools, hasToolRole: supportsToolRole(write, listsTools ? [PROBE_TOOL] : null) };
}

/** Names under which a message may have its thoughts. Most templates read the first, some the second. */
const THOUGHT_KEYS = ['reasoning_content', 'thinking', 'reasoning'] as const;

/**
 * A message as Transformers passes it to templates: without nulls, and with thoughts under both names that templates
 * read.
 */
function templateMessage(message: Message): JsonRecord {
  const entries = Object.entries(message).filter(([, value]) => value !== null && value !== undefined);
  const fields: JsonRecord = Object.fromEntries(entries);
  const thought = THOUGHT_KEYS.map((name) => field(fields, name)).find((value) => value !== undefined);
  return thought === undefined ? fields : { thinking: thought, ...fields, reasoning_content: thought };
}

const CONVERSATION: readonly Message[] = [
  { role: 'system', content: 'Two.' },
  { role: 'user', content: 'One.' },
];

/** Whether a template supports the role `tool`: it must write such a message differently from one of a made-up role. */
function supportsToolRole(write: ChatTemplate['write'], tools: readonly ToolSchema[] | null): boolean {
  const writtenWithRole = (role: string) =>
    writtenOrNull(() =>
      write([...CONVERSATION, { role: 'assistant', content: 'Three.' }, { role, content: 'Four.' }], tools, true),
    );
  const asTool = writtenWithRole('tool');
  return (
    asTool !== null && asTool.includes('Four.') && writtenWithRole('nobody')?.replaceAll('nobody', 'tool') !== asTool
  );
}

/** What `write` returns; null if the template refuses the conversation. */
function writtenOrNull(write: () => string): string | null {
  try {
    return write();
  } catch (error) {
    if (error instanceof ProblemError) return null;
    throw error;
  }
}

const errorText = (error: unknown) =>
  error instanceof Error ? `${error.name}: ${error.message.split('\n', 1)[0] ?? ''}` : String(error);

/**
 * Parses a Jinja template so that it runs as in Transformers, which is Python. A library parses and runs it; this
 * project's code replaces the parts of the library that differ from Python. Returns a function that renders the
 * template with given variables. The function throws if the template raises an exception. Throws if the source is not
 * Jinja. Both can take arbitrarily long, so only a worker that can be ended may run a template of an unknown file.
 */
export function jinja(source: string): (variables: Readonly<Record<string, unknown>>) => string {
  const normalizedSource = source.replaceAll(/\r\n?/g, '\n'); // Jinja reads every line ending as \n
  const program = parse(tokenize(normalizedSource, { lstrip_blocks: true, trim_blocks: true }));
  const printedNodes = new WeakSet<Node>(); // nodes whose values are written to the output
  prepareTemplate(program, printedNodes);
  return (variables) => {
    const environment = new Environment();
    for (const [name, value] of Object.entries({ ...GLOBALS, ...variables })) environment.set(name, value);
    return pythonText(new PythonInterpreter(environment, printedNodes).run(program));
  };
}

const MAX_RANGE = 100_000; // numbers

const GLOBALS: Readonly<Record<string, unknown>> = {
  ...{ true: true, True: true, false: false, False: false, none: null, None: null },
  raise_exception: (message: unknown) => {
    throw new Error(String(message));
  },
  range: (first: number, end?: number, step = 1) => {
    if (step === 0) throw new Error('range: a step of 0');
    const [begin, stop] = end === undefined ? [0, first] : [first, end];
    const length = Math.max(0, Math.ceil((stop - begin) / step));
    // the limit of Jinja's sandbox, in which Transformers runs templates
    if (!(length <= MAX_RANGE)) throw new RangeError(`range: over ${MAX_RANGE} numbers`);
    return Array.from({ length }, (_, i) => begin + i * step);
  },
};
