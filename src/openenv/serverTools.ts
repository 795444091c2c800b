import { isRecord } from '../base/jsonRecord.ts';
import { firstHidden, visible } from '../base/visible.ts';
import { EnvironmentServerError } from '../domain/serverAddress.ts';
import type { Parameter, ParameterType, ToolFace } from '../text/toolSchema.ts';
import type { ServerReply } from './serverMessages.ts';

const MOST_TOOLS = 32;
const MOST_PARAMETERS = 16;
const MOST_CHOICES = 64;
const MOST_DESCRIPTION = 400;
const NAME = /^[A-Za-z_][A-Za-z0-9_-]{0,63}$/;
/** If a server has a tool of this name with one text argument, it is called with the agent's final answer, and is not offered to the agent. */
const ANSWER = 'answer';

/** The tools of a server. */
export interface ServerTools {
  readonly tools: readonly ToolFace[]; // that the agent calls
  readonly answer: string | null; // the name of the text parameter of the tool `answer`, which gets the agent's final answer; null if there is no such tool
}

/** Reads what a server answers to `list_tools`. Throws EnvironmentServerError with what can't be used. */
export function readTools(reply: ServerReply): ServerTools {
  if (reply.kind === 'error') {
    throw new EnvironmentServerError(
      `The server has no tools: ${reply.says} An agent plays by calling tools, so the environment must take the actions list_tools and call_tool (CallToolAction).`,
    );
  }
  const { tools } = reply.observation;
  if (!Array.isArray(tools) || tools.length === 0) {
    throw new EnvironmentServerError('The server lists no tools, and an agent plays by calling tools.');
  }
  if (tools.length > MOST_TOOLS) throw new EnvironmentServerError(`The server lists ${tools.length} tools, and the limit is ${MOST_TOOLS}.`); // prettier-ignore
  const faces = tools.map(readTool);
  const names = faces.map(({ name }) => name);
  const twice = names.find((name, i) => names.indexOf(name) < i);
  if (twice !== undefined) throw new EnvironmentServerError(`The server lists the tool ${twice} twice.`);
  const answering = faces.find(({ name }) => name === ANSWER);
  const [text, ...more] = answering?.parameters ?? [];
  const answers = typeof text === 'object' && text.type === 'string' && !text.choices && more.length === 0;
  const called = answers ? faces.filter((tool) => tool !== answering) : faces;
  if (called.length === 0)
    throw new EnvironmentServerError('The server lists no tool but answer. A call needs a tool.');
  return { tools: called, answer: answers ? text.name : null };
}

function readTool(value: unknown): ToolFace {
  const { name, description = '', input_schema: schema } = isRecord(value) ? value : {};
  if (typeof name !== 'string' || !NAME.test(name)) {
    throw new EnvironmentServerError(`The server lists a tool named ${visible(typeof name === 'string' ? name : typeof name, 60)}. A name is letters, digits, _ and -, at most 64.`); // prettier-ignore
  }
  const properties = isRecord(schema) && isRecord(schema['properties']) ? schema['properties'] : {};
  const required = isRecord(schema) && Array.isArray(schema['required']) ? (schema['required'] as unknown[]) : [];
  const parameters = Object.entries(properties).flatMap(([key, property]) => {
    const parameter = readParameter(key, property);
    if (parameter) return [parameter];
    if (!required.includes(key)) return []; // the server has a default for it
    throw new EnvironmentServerError(
      `The tool ${name} needs the argument ${visible(key, 60)}, which is not a text, a number, true or false, or one of a few texts.`,
    );
  });
  if (parameters.length > MOST_PARAMETERS) {
    throw new EnvironmentServerError(`The tool ${name} has ${parameters.length} arguments, and the limit is ${MOST_PARAMETERS}.`); // prettier-ignore
  }
  return { name, description: described(description), parameters };
}

const TYPES: readonly unknown[] = ['string', 'integer', 'number', 'boolean'] satisfies readonly ParameterType[];

/** Reads a property of a JSON schema as a parameter. If it allows several types, takes the first that a call can be written with; null if there is none. */
function readParameter(name: string, property: unknown): Exclude<Parameter, string> | null {
  if (!isRecord(property) || !NAME.test(name)) return null;
  const { anyOf, description } = property;
  const says = typeof description === 'string' && description !== '' ? { description: described(description) } : {};
  for (const option of Array.isArray(anyOf) ? anyOf : [property]) {
    const { type, enum: choices } = isRecord(option) ? option : {};
    if (!TYPES.includes(type)) continue;
    if (choices === undefined) return { name, type: type as ParameterType, ...says };
    const texts =
      Array.isArray(choices) && choices.length > 0 && choices.length <= MOST_CHOICES && choices.every(isPlain);
    if (type === 'string' && texts) return { name, type: 'string', ...says, choices: choices as readonly string[] };
  }
  return null;
}

function isPlain(choice: unknown): boolean {
  return typeof choice === 'string' && choice.length <= 64 && firstHidden(choice) === null;
}

function described(text: unknown): string {
  return typeof text === 'string' ? visible(text.trim().replaceAll(/\s+/g, ' '), MOST_DESCRIPTION) : '';
}
