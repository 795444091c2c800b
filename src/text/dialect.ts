import type { ChatTemplate } from './chatTemplate.ts';
import type { Message } from './message.ts';
import { jsonLine, type ToolSchema } from './toolSchema.ts';
import type { Beginning, WrittenTurn } from './turnFormat.ts';

/** How a conversation is put to one template. */
export interface Dialect {
  readonly begins: (beginning: Beginning) => readonly Message[];
  readonly observes: (observation: string) => Message;
  readonly tools: readonly ToolSchema[] | null; // what the template itself is given
}

/** What a template can do goes to it; what it cannot is written into what it can. */
export function dialectOf(template: ChatTemplate, schemas: readonly ToolSchema[]): Dialect {
  return {
    begins: (beginning) => beginningMessages(beginning, template, schemas),
    observes: (observation) => observationMessage(observation, template),
    tools: template.listsTools && schemas.length > 0 ? schemas : null,
  };
}

/** A turn that no template changes, to find where what follows it begins. */
const turnMark = 'mark-of-the-turn';

/** What stands after the agent's words of a turn that `observation` follows: the end of its message, the observation's, the beginning of the next. */
export function following(template: ChatTemplate, { begins, observes, tools }: Dialect, observation: string): string {
  const written = template.write(
    [...begins({ system: null, question: '?' }), assistantMessage(turnMark), observes(observation)],
    tools,
    true,
  );
  // the first place: an observation may hold the mark too
  return written.slice(written.indexOf(turnMark) + turnMark.length);
}

/** A turn as a message. */
export const assistantMessage = (content: string): Message => ({ role: 'assistant', content });

function beginningMessages(
  { system, question }: Beginning,
  template: ChatTemplate,
  schemas: readonly ToolSchema[],
): readonly Message[] {
  const listed = template.listsTools || schemas.length === 0 ? null : toolText(schemas);
  const content = [system, listed].filter((part) => part !== null).join('\n\n');
  return [...(content === '' ? [] : [{ role: 'system', content }]), { role: 'user', content: question }];
}

/** What Qwen's templates say of tools, for those that say nothing of them. */
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

/** A turn in words, as templates write an assistant's message. What the turn says goes through `mark`, its tags do not. */
export function turnText(turn: WrittenTurn, answerTag: boolean, mark = (text: string) => text): string {
  const thought = turn.thought === undefined ? '' : `<think>\n${mark(turn.thought)}\n</think>\n\n`;
  if ('answer' in turn) {
    const answer = mark(turn.answer);
    return `${thought}${answerTag ? `<answer>${answer}</answer>` : answer}`;
  }
  return `${thought}<tool_call>\n${mark(jsonLine({ name: turn.tool, arguments: turn.values }))}\n</tool_call>`;
}
