import type { ChatTemplate, Message } from './chatTemplate.ts';
import { type Codec, shownToken } from './codec.ts';
import { dialectOf, textAfterTurn, turnText, assistantMessage, type Dialect } from './dialect.ts';
import { readHermes } from './hermesReading.ts';
import { controlTexts, outsideText } from './outsideText.ts';
import { type ToolFace, toolSchema } from './toolSchema.ts';
import { type TurnFormat, withoutStop } from './turnFormat.ts';
import { ProblemError } from '../base/problem.ts';

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

/** The parts of the format of Hermes turns. */
export interface HermesOptions {
  readonly codec: Codec;
  readonly template: ChatTemplate;
  readonly tools: readonly ToolFace[];
  /** True: an answer is written in `<answer>`; false: any text without a call is the answer. */
  readonly answerTag?: boolean;
}

/** Stands for an observation's words where only the text around them is wanted. A noncharacter, which no template has. */
const BODY = '\ufdd1';

/** The tags that a turn may contain. An agent may write them even if the tokenizer has them as special tokens. */
const TURN_TAGS: readonly string[] = ['<tool_call>', '</tool_call>', '<think>', '</think>', '<answer>', '</answer>'];

/**
 * The turn format of a checkpoint's chat template: calls are JSON in `<tool_call>`, observations are messages of role
 * `tool`. If the template can't list tools (SmolLM2's can't), they are written into the system message. If it has no
 * role `tool`, an observation is written in `<tool_response>` in a message of the user. The words of a question, an
 * observation or a turn never become special tokens. Throws ProblemError if the template changes earlier messages, see
 * `checkAppends`.
 */
export function hermesFormat({ codec, template, tools, answerTag = false }: HermesOptions): TurnFormat {
  const schemas = tools.map(toolSchema);
  const dialect = dialectOf(template, schemas);
  checkAppends(codec, template, dialect);
  const outside = outsideText(codec);
  const markers = controlTexts(codec).filter((text) => !TURN_TAGS.includes(text));
  const stopTexts = codec.stops.map((id) => codec.decode([id]));
  /** The index of the stop that a text begins with; −1 if there is none. A stop without a text is never found. */
  const stopAtStart = (text: string) => stopTexts.findIndex((stop) => stop !== '' && text.startsWith(stop));
  /** The ids that the template writes before and after an observation. */
  const markup = (stopped: boolean) => {
    const [before = '', after = ''] = textAfterTurn(template, dialect, BODY).split(BODY);
    const stop = stopTexts[stopAtStart(before)] ?? '';
    return { before: codec.encode(stopped ? before.slice(stop.length) : before), after: codec.encode(after) };
  };
  return {
    codec,
    stops: codec.stops,
    promptIds: ({ system, question }) => {
      const beginning = { system: system === null ? null : outside.mark(system), question: outside.mark(question) };
      return outside.encode(template.write(dialect.startMessages(beginning), dialect.tools, true));
    },
    observationIds: (observation, stopped) => {
      const afterTurn = textAfterTurn(template, dialect, outside.mark(observation));
      const stop = stopTexts[stopAtStart(afterTurn)] ?? '';
      return outside.encode(stopped ? afterTurn.slice(stop.length) : afterTurn);
    },
    bodyOf: (ids) => {
      const stopped = !codec.stops.includes(ids[0] ?? -1);
      const { before, after } = markup(stopped);
      const from = before.findIndex((id, i) => id !== ids[i]);
      const start = from < 0 ? before.length : from;
      const to = after.findIndex((_, i) => after.at(-1 - i) !== ids.at(-1 - i));
      return [start, Math.max(start, ids.length - (to < 0 ? after.length : to))];
    },
    turnIds: (turn) => {
      const afterTurn = textAfterTurn(template, dialect, '');
      const stop = codec.stops[stopAtStart(afterTurn)] ?? codec.stops[0];
      return [...outside.encode(turnText(turn, answerTag, outside.mark)), ...(stop === undefined ? [] : [stop])];
    },
    read: (turn, quote) =>
      readHermes(codec.decode(withoutStop(turn, codec.stops)), {
        ...{ tools: schemas, answerTag, markers },
        ...(quote && { quote }),
      }),
  };
}
