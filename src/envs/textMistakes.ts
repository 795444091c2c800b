import type { Codec } from '../text/codec.ts';
import { wrongTurns } from '../text/hermesReading.ts';
import { outsideText } from '../text/outsideText.ts';
import { toolSchema } from '../text/toolSchema.ts';
import { type Quote, type ReadTurn, type TurnFormat, withoutStop } from '../text/turnFormat.ts';
import type { Mistake } from './speech.ts';
import type { TextFace, TokenCount } from './textFace.ts';
import type { ParsedTurn } from './turn.ts';
import { ERROR_WORD } from './vocab.ts';

/** Tokens that an error repeats of the agent's words at most, and letters. */
const QUOTED_TOKENS = 16;
const QUOTED_LETTERS = 60;
const NOT_ENDED = 'a turn that is not ended; want a shorter one';

/** Reads turns of text. What it says of a mistake has a bound, so that an episode has room for a mistake in each turn. */
export interface TextReader {
  readonly read: (action: readonly number[]) => ParsedTurn | Mistake;
  /** Tokens of the observation that an error is, at most, with the end of a turn that had none before it. */
  readonly longestError: number;
}

/**
 * The reader of a face's turns. A turn without a stop id was cut and is a mistake, whatever it says. The bound on errors is the longest of
 * the kinds of mistake that there are (`wrongTurns`), with `QUOTED_TOKENS` for what they repeat; an error beyond it repeats less, then is cut.
 */
export function textReader(format: TurnFormat, face: TextFace): TextReader {
  const tokens = tokenCount(format.codec);
  const size = (text: string) => format.observationIds(text, false).length;
  const quoteOf =
    (most: number): Quote =>
    (words) => {
      const letters = Array.from(words);
      if (letters.length <= QUOTED_LETTERS && tokens(words) <= most) return words;
      let kept = Math.min(letters.length, QUOTED_LETTERS) - 1;
      const shown = () => `${letters.slice(0, kept).join('')}…`;
      while (kept > 0 && tokens(shown()) > most) kept--;
      return shown();
    };
  const readAs = (turn: ReadTurn, quote: Quote): ParsedTurn | string => {
    if (turn.kind === 'mistake') return turn.mistake.said;
    const words =
      turn.kind === 'call' ? face.callWords(turn.values, quote, turn.tool) : face.answerWords(turn.answer, quote);
    return 'wrong' in words ? words.wrong : { kind: turn.kind, words, thought: [], thinkEnd: -1 };
  };
  const gotText = (wrong: string) => `${ERROR_WORD}: got ${wrong}`;
  const wrongs = probes(format, face).flatMap((ids) => {
    const read = readAs(format.read(ids, quoteOf(0)), quoteOf(0));
    return typeof read === 'string' ? [read] : [];
  });
  const longestError =
    [NOT_ENDED, ...wrongs].reduce((most, wrong) => Math.max(most, size(gotText(wrong))), 0) + QUOTED_TOKENS;
  const mistake = (text: string): Mistake => ({ kind: 'mistake', said: [text] });
  return {
    longestError,
    read: (action) => {
      if (withoutStop(action, format.stops).length === action.length) return mistake(gotText(NOT_ENDED));
      for (let most = QUOTED_TOKENS; ; most = Math.floor(most / 2)) {
        const quote = quoteOf(most);
        const read = readAs(format.read(action, quote), quote);
        if (typeof read !== 'string') return read;
        const text = gotText(read);
        if (size(text) <= longestError) return mistake(text);
        if (most === 0) return mistake(shortened(text, (cut) => size(cut) <= longestError));
      }
    },
  };
}

/** How many tokens a text is in a question, a turn or an observation, where none of it is a special token. */
export function tokenCount(codec: Codec): TokenCount {
  const { mark, encode } = outsideText(codec);
  return (text) => encode(mark(text)).length;
}

/** Turns that are wrong in each way there is, as ids. */
function probes({ codec }: TurnFormat, face: TextFace): readonly (readonly number[])[] {
  const tools = face.tools.map(toolSchema);
  const { turns } = face.longest((text) => codec.encode(text).length);
  const calls = turns.flatMap((turn) => ('tool' in turn ? [turn] : []));
  return wrongTurns({ tools }, (tool) => calls.find((call) => call.tool === tool)?.values ?? {}).map((text) =>
    codec.encode(text),
  );
}

/** The text without the letters at its end that are too many. */
function shortened(text: string, fits: (cut: string) => boolean): string {
  const letters = Array.from(text);
  while (letters.length > 0 && !fits(letters.join(''))) letters.pop();
  return letters.join('');
}
