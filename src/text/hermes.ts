import type { ChatTemplate } from './chatTemplate.ts';
import type { Codec } from './codec.ts';
import { checkAppends } from './appendOnly.ts';
import { dialectOf, textAfterTurn, turnText } from './dialect.ts';
import { readHermes } from './hermesReading.ts';
import { controlTexts, outsideText } from './outsideText.ts';
import { type ToolFace, toolSchema } from './toolSchema.ts';
import { type TurnFormat, withoutStop } from './turnFormat.ts';

/** The parts of the format of Hermes turns. */
export interface HermesOptions {
  readonly codec: Codec;
  readonly template: ChatTemplate;
  readonly tools: readonly ToolFace[];
  /** True: an answer is written in `<answer>`; false: any text without a call is the answer. */
  readonly answerTag?: boolean;
}

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
