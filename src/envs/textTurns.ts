import type { Grammar } from '../domain/tokens.ts';
import { shownToken } from '../text/codec.ts';
import { hermesFormat } from '../text/hermes.ts';
import type { Speech } from './speech.ts';
import type { ChatTokenizer } from '../text/chatTokenizer.ts';
import type { TextFace } from './textFace.ts';
import { textReader, tokenCount, type TextReader } from './textMistakes.ts';
import { type TurnFormat, type WrittenTurn, withoutStop } from '../text/turnFormat.ts';
import { ERROR_WORD } from './vocab.ts';

/**
 * How an environment is played in text: the agent's chat tokenizer, and the face that translates the environment's words
 * to text and back.
 */
export interface TextTalk {
  readonly chatTokenizer: ChatTokenizer;
  readonly face: TextFace;
}

/** What an environment needs to be played in text: its speech, vocabulary, grammar and limits. */
export interface TextTurns {
  readonly speech: Speech;
  readonly vocabulary: readonly string[]; // id → a printable form of the token
  readonly grammar: Grammar;
  readonly state: number; // grammar state in which every turn begins
  readonly maxTurnTokens: number;
  readonly maxTokens: number;
}

/**
 * Extra tokens allowed in a turn, above the longest correct turn: the agent may add a few words, or split the same text
 * into more tokens.
 */
const SPARE = 6;
const TURN = 1;
const END = 2;

/**
 * Turns in text. The agent may draw every token that its tokenizer knows, and a stop id ends the turn. The limit of a turn
 * is the longest turn that the face writes, counted in tokens of this chat tokenizer, plus a few. The limit of an episode has
 * room for all turns at that limit, each followed by the longest observation or error message. Throws ProblemError if the
 * chat template changes earlier messages when a new one is added.
 */
export function textTurns({ chatTokenizer, face }: TextTalk, maxTurns: number): TextTurns {
  const { codec, template } = chatTokenizer;
  const format = hermesFormat({ codec, template, tools: face.tools });
  const most = (lengths: readonly number[]) => lengths.reduce((longest, length) => Math.max(longest, length), 0);
  const { questions, turns, observations } = face.longest(tokenCount(codec));
  const prompt = most(questions.map((question) => format.promptIds({ system: face.system, question }).length));
  const maxTurnTokens = most(turns.map((turn) => format.turnIds(turn).length)) + SPARE;
  const reader = textReader(format, face);
  // `false`: the turn had no stop id of its own, so the observation begins with one
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
    // at least one answered turn: the naive RAG baseline has a turn and its observation in the prompt, then one turn to answer
    maxTokens: prompt + Math.max(1, maxTurns - 1) * answered + maxTurnTokens,
  };
}

/**
 * A grammar with three states: 0 allows every id, TURN is inside a turn, END ends it. In TURN, ids that the tokenizer
 * does not know are not allowed.
 */
function freeTurns(vocabulary: number, known: number, stops: readonly number[]): Grammar {
  const next = new Int32Array(3 * vocabulary).fill(-1);
  next.fill(0, 0, vocabulary);
  next.fill(TURN, TURN * vocabulary, TURN * vocabulary + known);
  for (const id of stops) next[TURN * vocabulary + id] = END;
  return { states: 3, vocabulary, next, stop: Uint8Array.of(0, 0, 1) };
}

/**
 * An environment that speaks text: a system prompt, a question, calls as JSON, messages of the tool, an answer in words. A turn that says
 * nothing is answered by what is wrong with it. A thought is read over and is no think span: nothing is paid for it.
 */
function textSpeech(format: TurnFormat, face: TextFace, { read }: Pick<TextReader, 'read'>): Speech {
  const spokenText = (words: readonly string[]) =>
    words[0]?.startsWith(ERROR_WORD) ? words.join(' ') : face.observation(words);
  const written = (words: readonly string[]): WrittenTurn => {
    const inner = words.slice(1, -1);
    return words[0] === '<call>' ? face.call(inner) : { answer: face.answerText(inner) };
  };
  return {
    prompt: (words, question) => {
      const { asked, call, facts } = opened(words);
      const text = face.question(asked, question);
      const begins = (said: string) => format.promptIds({ system: face.system, question: said });
      if (!facts) return begins(text);
      // what was retrieved without a call is part of the question, with one it is the first turn
      if (!call) return begins(`${text}\n${spokenText(facts)}`);
      return [...begins(text), ...format.turnIds(written(call)), ...format.observationIds(spokenText(facts), true)];
    },
    read,
    observation: (words, action) =>
      format.observationIds(spokenText(words), withoutStop(action, format.stops).length < action.length),
    action: (words) => format.turnIds(written(words)),
    names: () => NO_NAMES,
  };
}

const NO_NAMES: ReadonlyMap<number, string> = new Map();

/** A prompt in words by its parts: what is asked, and a call and its observation where naive RAG put them there. */
function opened(words: readonly string[]): {
  readonly asked: readonly string[];
  readonly call: readonly string[] | null;
  readonly facts: readonly string[] | null;
} {
  const at = (word: string, otherwise: number) => (words.includes(word) ? words.indexOf(word) : otherwise);
  const facts = at('<obs>', words.length);
  const call = at('<call>', facts);
  return {
    asked: words.slice(0, call),
    call: call < facts ? words.slice(call, facts) : null,
    facts: facts < words.length ? words.slice(facts + 1, -1) : null,
  };
}
