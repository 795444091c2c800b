import { isRecord } from '../base/jsonRecord.ts';
import { firstHiddenCode, visible } from '../base/visible.ts';
import { EnvironmentServerError } from '../domain/serverAddress.ts';
import type { Parameter, ParameterType, ToolFace } from '../text/toolSchema.ts';
import type { ServerReply } from './serverMessages.ts';

const MAX_TOOLS = 32;
const MAX_PARAMETERS = 16;
const MAX_CHOICES = 64;
const MAX_DESCRIPTION_LENGTH = 400;
const NAME = /^[A-Za-z_][A-Za-z0-9_-]{0,63}$/;
/**
 * If a server has a tool of this name with one text argument, it is called with the agent's final answer, and is not
 * offered to the agent.
 */
const ANSWER = 'answer';

export interface ServerTools {
  readonly tools: readonly ToolFace[]; // the tools that the agent can call
  /**
   * The name of the text parameter of the tool `answer`, which gets the agent's final answer. Null if there is no such
   * tool.
   */
  readonly answer: string | null;
}

/** Reads a server's reply to `list_tools`. Throws EnvironmentServerError if a tool can't be used. */
export function readTools(reply: ServerReply): ServerTools {
  if (reply.kind === 'error') {
    throw new EnvironmentServerError(
      `The server has no tools: ${reply.message} An agent plays by calling tools, so the environment must take the actions list_tools and call_tool (CallToolAction).`,
    );
  }
  const { tools } = reply.observation;
  if (!Array.isArray(tools) || tools.length === 0) {
    throw new EnvironmentServerError('The server lists no tools, and an agent plays by calling tools.');
  }
  if (tools.length > MAX_TOOLS) throw new EnvironmentServerError(`The server lists ${tools.length} tools, and the limit is ${MAX_TOOLS}.`); // prettier-ignore
  const faces = tools.map(readTool);
  const names = faces.map(({ name }) => name);
  const duplicate = names.find((name, i) => names.indexOf(name) < i);
  if (duplicate !== undefined) throw new EnvironmentServerError(`The server lists the tool ${duplicate} twice.`);
  const answerTool = faces.find(({ name }) => name === ANSWER);
  const [text, ...more] = answerTool?.parameters ?? [];
  const answers = typeof text === 'object' && text.type === 'string' && !text.enum && more.length === 0;
  const callable = answers ? faces.filter((tool) => tool !== answerTool) : faces;
  if (callable.length === 0)
    throw new EnvironmentServerError('The server lists no tool except answer. An agent needs another tool to call.');
  return { tools: callable, answer: answers ? text.name : null };
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
  if (parameters.length > MAX_PARAMETERS) {
    throw new EnvironmentServerError(`The tool ${name} has ${parameters.length} arguments, and the limit is ${MAX_PARAMETERS}.`); // prettier-ignore
  }
  return { name, description: asOneLine(description), parameters };
}

const TYPES: readonly unknown[] = ['string', 'integer', 'number', 'boolean'] satisfies readonly ParameterType[];

/**
 * Reads a property of a JSON schema as a parameter. If it allows several types, takes the first that a call can have;
 * null if there is none.
 */
function readParameter(name: string, property: unknown): Exclude<Parameter, string> | null {
  if (!isRecord(property) || !NAME.test(name)) return null;
  const { anyOf, description } = property;
  const descriptionField =
    typeof description === 'string' && description !== '' ? { description: asOneLine(description) } : {};
  for (const option of Array.isArray(anyOf) ? anyOf : [property]) {
    const { type, enum: choices } = isRecord(option) ? option : {};
    if (!TYPES.includes(type)) continue;
    if (choices === undefined) return { name, type: type as ParameterType, ...descriptionField };
    const texts =
      Array.isArray(choices) && choices.length > 0 && choices.length <= MAX_CHOICES && choices.every(isPlainChoice);
    if (type === 'string' && texts)
      return { name, type: 'string', ...descriptionField, enum: choices as readonly string[] };
  }
  return null;
}

function isPlainChoice(choice: unknown): boolean {
  return typeof choice === 'string' && choice.length <= 64 && firstHiddenCode(choice) === null;
}

function asOneLine(text: unknown): string {
  return typeof text === 'string' ? visible(text.trim().replaceAll(/\s+/g, ' '), MAX_DESCRIPTION_LENGTH) : '';
}
