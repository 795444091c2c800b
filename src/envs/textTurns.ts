import type { Grammar } from '../domain/tokens.ts';
import { shownToken } from '../text/codec.ts';
import { hermesFormat } from '../text/hermes.ts';
import type { Speech } from './speech.ts';
import type { ChatTokenizer } from '../text/chatTokenizer.ts';
import type { TextFace } from './textFace.ts';
import { textReader, tokenCount } from './textMistakes.ts';
import { textSpeech } from './textSpeech.ts';

/** Who speaks text and how the environment does. */
export interface TextTalk {
  readonly chatTokenizer: ChatTokenizer;
  readonly face: TextFace;
}

/** What follows for an environment from how it speaks text. */
export interface TextTurns {
  readonly speech: Speech;
  readonly vocabulary: readonly string[]; // id → the token as something printable
  readonly grammar: Grammar;
  readonly state: number; // in which every turn is drawn
  readonly maxTurnTokens: number;
  readonly maxTokens: number;
}

/** Tokens that a turn may hold beyond the longest that is right: a few words of its own, or another way to cut the same text. */
const SPARE = 6;
const TURN = 1;
const END = 2;

/**
 * Text: every token may be drawn, a stop id ends a turn. The room of a turn is measured on the longest that the face writes, in tokens of
 * this chat tokenizer. An episode has room for all its turns, each as long as may be and answered by the longest observation or error there is. Throws FormatError where its template rewrites what was said.
 */
export function textTurns({ chatTokenizer, face }: TextTalk, maxTurns: number): TextTurns {
  const { codec, template } = chatTokenizer;
  const format = hermesFormat({ codec, template, tools: [face.tool] });
  const most = (lengths: readonly number[]) => lengths.reduce((longest, length) => Math.max(longest, length), 0);
  const { questions, turns, observations } = face.longest(tokenCount(codec));
  const prompt = most(questions.map((question) => format.promptIds({ system: face.system, question }).length));
  const maxTurnTokens = most(turns.map((turn) => format.turnIds(turn).length)) + SPARE;
  const reader = textReader(format, face);
  // after a turn that had no end, the end is forced too
  const observation = most([
    ...observations.map((text) => format.observationIds(text, false).length),
    reader.longestError,
  ]);
  const answered = maxTurnTokens + observation;
  const size = Math.max(chatTokenizer.size ?? 0, codec.size);
  return {
    speech: textSpeech(format, face, reader),
    vocabulary: Array.from({ length: size }, (_, id) => shownToken(codec, id)),
    grammar: freeTurns(size, codec.size, format.stops),
    state: TURN,
    maxTurnTokens,
    // naive RAG has a turn and its observation in the prompt, and one turn of its own
    maxTokens: prompt + Math.max(1, maxTurns - 1) * answered + maxTurnTokens,
  };
}

/** Three states: anything, a turn, its end. Ids that the tokenizer does not know are never drawn. */
function freeTurns(vocabulary: number, known: number, stops: readonly number[]): Grammar {
  const next = new Int32Array(3 * vocabulary).fill(-1);
  next.fill(0, 0, vocabulary);
  next.fill(TURN, TURN * vocabulary, TURN * vocabulary + known);
  for (const id of stops) next[TURN * vocabulary + id] = END;
  return { states: 3, vocabulary, next, stop: Uint8Array.of(0, 0, 1) };
}
