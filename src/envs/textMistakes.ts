import type { Codec } from '../text/codec.ts';
import { wrongTurns } from '../text/hermesReading.ts';
import { outsideText } from '../text/outsideText.ts';
import { toolSchema } from '../text/toolSchema.ts';
import { type Quote, type ReadTurn, type TurnFormat, withoutStop } from '../text/turnFormat.ts';
import type { Mistake, ParsedTurn } from './turnCodec.ts';
import type { TextFace, CountTokens } from './textFace.ts';
import { ERROR_WORD } from './vocab.ts';

/** Limits on how much of the agent's own text an error message repeats. */
const MAX_QUOTED_TOKENS = 16;
const MAX_QUOTED_CHARACTERS = 60;
const NOT_ENDED = 'a turn that is not ended; want a shorter one';

/** The length of its error messages is bounded, so that an episode's token limit can allow for an error in each turn. */
export interface TextReader {
  readonly read: (action: readonly number[]) => ParsedTurn | Mistake;
  /** Largest number of tokens of an error observation, including the stop id for a turn that had none. */
  readonly maxErrorTokens: number;
}

/**
 * Makes the reader of a face's turns. A turn without a stop id was cut off and counts as a mistake, whatever it says.
 * The bound on errors is the longest message among all types of mistake (`wrongTurns`), plus `MAX_QUOTED_TOKENS` for
 * the text that it repeats. A longer error repeats less, and is cut as a last resort.
 */
export function textReader(format: TurnFormat, face: TextFace): TextReader {
  const countTokens = tokenCount(format.codec);
  const observationTokens = (text: string) => format.observationIds(text, false).length;
  const quoteOf =
    (maxTokens: number): Quote =>
    (words) => {
      const characters = Array.from(words);
      if (characters.length <= MAX_QUOTED_CHARACTERS && countTokens(words) <= maxTokens) return words;
      let length = Math.min(characters.length, MAX_QUOTED_CHARACTERS) - 1;
      const shown = () => `${characters.slice(0, length).join('')}…`;
      while (length > 0 && countTokens(shown()) > maxTokens) length--;
      return shown();
    };
  const readAs = (turn: ReadTurn, quote: Quote): ParsedTurn | string => {
    if (turn.kind === 'mistake') return turn.mistake.message;
    const words =
      turn.kind === 'call' ? face.callWords(turn.values, quote, turn.tool) : face.answerWords(turn.answer, quote);
    return 'wrong' in words ? words.wrong : { kind: turn.kind, words, thought: [], thinkEnd: -1 };
  };
  const errorText = (wrong: string) => `${ERROR_WORD}: got ${wrong}`;
  const messages = mistakenTurns(format, face).flatMap((ids) => {
    const read = readAs(format.read(ids, quoteOf(0)), quoteOf(0));
    return typeof read === 'string' ? [read] : [];
  });
  const maxErrorTokens =
    [NOT_ENDED, ...messages].reduce((most, wrong) => Math.max(most, observationTokens(errorText(wrong))), 0) +
    MAX_QUOTED_TOKENS;
  const mistake = (text: string): Mistake => ({ kind: 'mistake', observation: [text] });
  return {
    maxErrorTokens,
    read: (action) => {
      if (withoutStop(action, format.stops).length === action.length) return mistake(errorText(NOT_ENDED));
      for (let maxQuotedTokens = MAX_QUOTED_TOKENS; ; maxQuotedTokens = Math.floor(maxQuotedTokens / 2)) {
        const quote = quoteOf(maxQuotedTokens);
        const read = readAs(format.read(action, quote), quote);
        if (typeof read !== 'string') return read;
        const text = errorText(read);
        if (observationTokens(text) <= maxErrorTokens) return mistake(text);
        if (maxQuotedTokens === 0) return mistake(shortened(text, (cut) => observationTokens(cut) <= maxErrorTokens));
      }
    },
  };
}

/** Counts within a question, a turn or an observation, where no part of the text becomes a special token. */
export function tokenCount(codec: Codec): CountTokens {
  const { mark, encode } = outsideText(codec);
  return (text) => encode(mark(text)).length;
}

function mistakenTurns({ codec }: TurnFormat, face: TextFace): readonly (readonly number[])[] {
  const tools = face.tools.map(toolSchema);
  const { turns } = face.longestTexts((text) => codec.encode(text).length);
  const calls = turns.flatMap((turn) => ('tool' in turn ? [turn] : []));
  return wrongTurns({ tools }, (tool) => calls.find((call) => call.tool === tool)?.values ?? {}).map((text) =>
    codec.encode(text),
  );
}

function shortened(text: string, fits: (cut: string) => boolean): string {
  const characters = Array.from(text);
  while (characters.length > 0 && !fits(characters.join(''))) characters.pop();
  return characters.join('');
}
