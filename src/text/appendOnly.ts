import { ProblemError } from '../base/problem.ts';
import type { ChatTemplate } from './chatTemplate.ts';
import { type Codec, shownToken } from './codec.ts';
import { assistantMessage, type Dialect, textAfterTurn, turnText } from './dialect.ts';
import type { Message } from './message.ts';

const REMEDY =
  'Choose a checkpoint whose template only adds to what was said, or give it a chat_template.jinja that does.';
const QUESTION = 'What is in the box?';

/** Turns of every kind, as the agent writes them. The template must not change them. */
const TURNS = [
  turnText({ tool: 'look', values: { place: 'box', times: 2 } }, false),
  turnText({ tool: 'look', values: { place: 'a "box"\n' }, thought: 'It may be in there.' }, false),
  'Let me look.\n<tool_call>\n{"name": "look"', // malformed
  '<answer>nothing</answer>',
];
const OBSERVATIONS = ['{"found": "a key"}', 'error: no such place', 'Two lines.\nAnd <b>more</b>.', ''];

/**
 * Throws ProblemError unless the template only appends: the prompt of a turn, the turn, and the text after it must
 * together be the next turn's prompt, token by token. A template that drops thoughts, joins messages or counts turns
 * would make the model learn from a text that it never saw. The message names the turn and shows the first tokens that
 * differ.
 */
export function checkAppends(codec: Codec, template: ChatTemplate, dialect: Dialect): void {
  const messages: Message[] = [...dialect.startMessages({ system: 'You look into boxes.', question: QUESTION })];
  const encodePrompt = () => codec.encode(template.write(messages, dialect.tools, true));
  let tokens = [...encodePrompt()];
  TURNS.forEach((turn, i) => {
    const observation = OBSERVATIONS[i] ?? '';
    const afterTurn = textAfterTurn(template, dialect, observation);
    const afterIds = codec.encode(afterTurn);
    if (!codec.stops.includes(afterIds[0] ?? -1)) {
      const stopTexts = codec.stops.map((id) => shownToken(codec, id)).join(', ');
      throw templateProblem(
        template,
        'the end of a turn',
        shownTokens(codec, afterIds.slice(0, 4)),
        `one of ${stopTexts || 'its stop ids'}`,
      );
    }
    tokens = [...tokens, ...codec.encode(turn), ...afterIds];
    messages.push(assistantMessage(turn), dialect.observationMessage(observation));
    const nextPrompt = encodePrompt();
    const firstDifference = tokens.findIndex((id, index) => id !== nextPrompt[index]);
    if (firstDifference < 0 && nextPrompt.length === tokens.length) return;
    const index = firstDifference < 0 ? tokens.length : firstDifference;
    const shownAround = (ids: readonly number[]) =>
      shownTokens(codec, ids.slice(Math.max(0, index - 4), index + 6)) || 'the end';
    throw templateProblem(
      template,
      `token ${index} of the prompt after turn ${i + 1}`,
      `${shownAround(nextPrompt)} in place of ${shownAround(tokens)}`,
      'every earlier token unchanged',
    );
  });
}

const shownTokens = (codec: Codec, ids: readonly number[]) => ids.map((id) => shownToken(codec, id)).join('');

const templateProblem = ({ file }: ChatTemplate, place: string, got: string, want: string) =>
  new ProblemError([{ file, place, got, want, remedy: REMEDY }]);
