import type { ChatTemplate, Message } from './chatTemplate.ts';
import { jsonLine, type ToolSchema } from './toolSchema.ts';
import type { EpisodeStart, WrittenTurn } from './turnFormat.ts';

/** How an episode is written as messages for one chat template. */
export interface Dialect {
  readonly startMessages: (beginning: EpisodeStart) => readonly Message[]; // the messages before the first turn
  readonly observationMessage: (observation: string) => Message;
  readonly tools: readonly ToolSchema[] | null; // the tools that the template is given
}

/**
 * The dialect for a template. If the template can't list tools, they are written into the system message. If it has no
 * role `tool`, observations are written as messages of the user.
 */
export function dialectOf(template: ChatTemplate, schemas: readonly ToolSchema[]): Dialect {
  return {
    startMessages: (beginning) => messagesBeforeTurns(beginning, template, schemas),
    observationMessage: (observation) => observationMessage(observation, template),
    tools: template.listsTools && schemas.length > 0 ? schemas : null,
  };
}

/** The text of a turn that no template changes. It marks the place after which `textAfterTurn` begins. */
const TURN_MARK = 'mark-of-the-turn';

/**
 * The text that a template writes after the agent's words, if `observation` follows: the end of the turn's message, the
 * observation's message, and the beginning of the next turn's message.
 */
export function textAfterTurn(
  template: ChatTemplate,
  { startMessages, observationMessage, tools }: Dialect,
  observation: string,
): string {
  const text = template.write(
    [...startMessages({ system: null, question: '?' }), assistantMessage(TURN_MARK), observationMessage(observation)],
    tools,
    true,
  );
  // the first occurrence, because an observation may contain the mark too
  return text.slice(text.indexOf(TURN_MARK) + TURN_MARK.length);
}

export const assistantMessage = (content: string): Message => ({ role: 'assistant', content });

function messagesBeforeTurns(
  { system, question }: EpisodeStart,
  template: ChatTemplate,
  schemas: readonly ToolSchema[],
): readonly Message[] {
  const toolsText = template.listsTools || schemas.length === 0 ? null : toolText(schemas);
  const content = [system, toolsText].filter((part) => part !== null).join('\n\n');
  return [...(content === '' ? [] : [{ role: 'system', content }]), { role: 'user', content: question }];
}

/** The description of tools as Qwen's templates write it, for templates that don't list tools. */
function toolText(schemas: readonly ToolSchema[]): string {
  return [
    '# Tools\n',
    'You may call one or more functions to assist with the user query.\n',
    'You are provided with function signatures within <tools></tools> XML tags:\n<tools>',
    ...schemas.map(jsonLine),
    '</tools>\n',
    'For each function call, return a json object with function name and arguments within <tool_call></tool_call> XML tags:',
    '<tool_call>\n{"name": <function-name>, "arguments": <args-json-object>}\n</tool_call>',
  ].join('\n');
}

function observationMessage(content: string, { hasToolRole }: ChatTemplate): Message {
  if (hasToolRole) return { role: 'tool', content };
  return { role: 'user', content: `<tool_response>\n${content}\n</tool_response>` };
}

/**
 * The text of a turn, as templates write an assistant's message. `mark` is applied to its content but not to its tags.
 */
export function turnText(turn: WrittenTurn, answerTag: boolean, mark = (text: string) => text): string {
  const thought = turn.thought === undefined ? '' : `<think>\n${mark(turn.thought)}\n</think>\n\n`;
  if ('answer' in turn) {
    const answer = mark(turn.answer);
    return `${thought}${answerTag ? `<answer>${answer}</answer>` : answer}`;
  }
  return `${thought}<tool_call>\n${mark(jsonLine({ name: turn.tool, arguments: turn.values }))}\n</tool_call>`;
}
