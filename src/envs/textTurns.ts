import type { Grammar } from '../domain/tokens.ts';
import { shownToken } from '../text/codec.ts';
import { hermesFormat } from '../text/hermes.ts';
import type { TurnCodec } from './turnCodec.ts';
import type { ChatTokenizer } from '../text/chatTokenizer.ts';
import type { TextFace } from './textFace.ts';
import { textReader, tokenCount, type TextReader } from './textMistakes.ts';
import { type TurnFormat, type WrittenTurn, withoutStop } from '../text/turnFormat.ts';
import { retokenizer } from '../text/retokenization.ts';
import { ERROR_WORD } from './vocab.ts';

/** The agent's chat tokenizer, and the face that translates the environment's words to text and back. */
export interface TextPlay {
  readonly chatTokenizer: ChatTokenizer;
  readonly face: TextFace;
}

/** What an environment needs to be played in text: the codec of its turns, vocabulary, grammar and limits. */
export interface TextTurns {
  readonly turnCodec: TurnCodec;
  readonly vocabulary: readonly string[]; // id → a printable form of the token
  readonly grammar: Grammar;
  readonly grammarState: number; // grammar state in which every turn begins
  readonly maxTurnTokens: number;
  readonly maxTokens: number;
}

/** Above the longest correct turn: the agent may add a few words, or split the same text into more tokens. */
const SPARE_TURN_TOKENS = 6;
const TURN_STATE = 1;
const END_STATE = 2;

/**
 * Builds the turns of a text environment. The agent may draw every token that its tokenizer knows, and a stop id ends
 * the turn. The limit of a turn is the longest turn that the face writes, counted in tokens of this chat tokenizer,
 * plus SPARE_TURN_TOKENS. The limit of an episode fits all turns at that limit, each followed by the longest
 * observation or error message. Throws ProblemError if the chat template changes earlier messages when a new one is
 * added.
 */
export function textTurns({ chatTokenizer, face }: TextPlay, maxTurns: number): TextTurns {
  const { codec, template } = chatTokenizer;
  const format = hermesFormat({ codec, template, tools: face.tools });
  const max = (lengths: readonly number[]) => lengths.reduce((longest, length) => Math.max(longest, length), 0);
  const { questions, turns, observations } = face.longestTexts(tokenCount(codec));
  const maxPromptTokens = max(questions.map((question) => format.promptIds({ system: face.system, question }).length));
  const maxTurnTokens = max(turns.map((turn) => format.turnIds(turn).length)) + SPARE_TURN_TOKENS;
  const reader = textReader(format, face);
  // `false`: the turn had no stop id, so the observation begins with one
  const maxObservationTokens = max([
    ...observations.map((text) => format.observationIds(text, false).length),
    reader.maxErrorTokens,
  ]);
  const turnAndObservation = maxTurnTokens + maxObservationTokens;
  const size = Math.max(chatTokenizer.embeddingRows ?? 0, codec.size);
  return {
    turnCodec: textTurnCodec(format, face, reader),
    vocabulary: Array.from({ length: size }, (_, id) => shownToken(codec, id)),
    grammar: freeTurns(size, codec.size, format.stops),
    grammarState: TURN_STATE,
    maxTurnTokens,
    // at least one answered turn: the naive RAG baseline has a turn and its observation in the prompt, then one turn to answer
    maxTokens: maxPromptTokens + Math.max(1, maxTurns - 1) * turnAndObservation + maxTurnTokens,
  };
}

/** State 0 allows every id, TURN_STATE (inside a turn) those that the tokenizer knows, and END_STATE ends the turn. */
function freeTurns(vocabulary: number, knownIds: number, stops: readonly number[]): Grammar {
  const next = new Int32Array(3 * vocabulary).fill(-1);
  next.fill(0, 0, vocabulary);
  next.fill(TURN_STATE, TURN_STATE * vocabulary, TURN_STATE * vocabulary + knownIds);
  for (const id of stops) next[TURN_STATE * vocabulary + id] = END_STATE;
  return { states: 3, vocabulary, next, stop: Uint8Array.of(0, 0, 1) };
}

/**
 * Makes the `TurnCodec` for text: a system prompt, a question, calls as JSON, tool messages, and an answer in words. A
 * turn that cannot be read gets an observation with what is wrong. A thought is skipped and earns no reward, because it
 * is no think span.
 */
function textTurnCodec(format: TurnFormat, face: TextFace, { read }: Pick<TextReader, 'read'>): TurnCodec {
  const observationText = (words: readonly string[]) =>
    words[0]?.startsWith(ERROR_WORD) ? words.join(' ') : face.observation(words);
  const turnOf = (words: readonly string[]): WrittenTurn => {
    const inner = words.slice(1, -1);
    return words[0] === '<call>' ? face.call(inner) : { answer: face.answerText(inner) };
  };
  return {
    prompt: (words, question) => {
      const { question: questionWords, call, observation: facts } = promptParts(words);
      const text = face.question(questionWords, question);
      const promptWith = (questionText: string) => format.promptIds({ system: face.system, question: questionText });
      if (!facts) return promptWith(text);
      // facts that were retrieved without a call become part of the question; facts with a call become the first turn
      if (!call) return promptWith(`${text}\n${observationText(facts)}`);
      return [
        ...promptWith(text),
        ...format.turnIds(turnOf(call)),
        ...format.observationIds(observationText(facts), true),
      ];
    },
    read,
    observation: (words, action) =>
      format.observationIds(observationText(words), withoutStop(action, format.stops).length < action.length),
    bodyOf: format.bodyOf,
    action: (words) => format.turnIds(turnOf(words)),
    tagTokens: 0,
    names: () => NO_NAMES,
    retokenize: retokenizer(format.codec),
  };
}

const NO_NAMES: ReadonlyMap<number, string> = new Map();

/** Splits a prompt in words into the question and, if naive RAG added them, a call and its observation. */
function promptParts(words: readonly string[]): {
  readonly question: readonly string[];
  readonly call: readonly string[] | null;
  readonly observation: readonly string[] | null;
} {
  const at = (word: string, otherwise: number) => (words.includes(word) ? words.indexOf(word) : otherwise);
  const facts = at('<obs>', words.length);
  const call = at('<call>', facts);
  return {
    question: words.slice(0, call),
    call: call < facts ? words.slice(call, facts) : null,
    observation: facts < words.length ? words.slice(facts + 1, -1) : null,
  };
}
