import type { TurnFormat, WrittenTurn } from '../text/turnFormat.ts';
import { withoutStop } from '../text/turnFormat.ts';
import type { Speech } from './speech.ts';
import type { TextFace } from './textFace.ts';
import type { TextReader } from './textMistakes.ts';
import { ERROR_WORD } from './vocab.ts';

/**
 * An environment that speaks text: a system prompt, a question, calls as JSON, messages of the tool, an answer in words. A turn that says
 * nothing is answered by what is wrong with it. A thought is read over and is no think span: nothing is paid for it.
 */
export function textSpeech(format: TurnFormat, face: TextFace, { read }: Pick<TextReader, 'read'>): Speech {
  const said = (words: readonly string[]) =>
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
      if (!call) return begins(`${text}\n${said(facts)}`);
      return [...begins(text), ...format.turnIds(written(call)), ...format.observationIds(said(facts), true)];
    },
    read,
    observation: (words, action) =>
      format.observationIds(said(words), withoutStop(action, format.stops).length < action.length),
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
