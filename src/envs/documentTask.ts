import type { EnvView } from '../domain/envView.ts';
import type { Random } from '../base/rng.ts';
import { answerScores } from './answerScores.ts';
import { type Documents, PASSAGE_WORDS, type Question } from './documentCollection.ts';
import type { Tool } from './env.ts';
import type { Outcome, Task, ToolRunner } from './episodeRules.ts';
import { type Hit, type LexicalIndex, wordPlaces, wordsOf } from './lexicalIndex.ts';
import type { EntitySlots } from './entitySlots.ts';

type Search = Extract<EnvView, { kind: 'passages' }>['searches'][number];

/** The word between the title and the text of a passage. */
export const TITLE_END = ':';
/** The word between two passages. */
export const NEXT_PASSAGE = '|';
/** Largest number of words of a query or an answer. */
export const MAX_SPAN_WORDS = 2;
// When a demonstrator errs, it picks a word from the question or the last observation with this probability.
const PLAUSIBLE_SHARE = 0.8;

/**
 * Retrieves the best passages of the whole corpus for a query of words. Returns each title with as much of the text as
 * an agent reads.
 */
export const retrieve: Tool<{ readonly corpus: LexicalIndex; readonly top: number }> = {
  name: 'search',
  description: 'Finds the passages that best match one or two words.',
  parameters: ['word', 'word'],
  execute(args, { corpus, top }) {
    const hits = corpus.search(args.join(' '), top);
    const texts = hits.map(({ passage: { titleWords, textWords } }) => [
      ...titleWords,
      TITLE_END,
      ...textWords.slice(0, PASSAGE_WORDS),
    ]);
    return { ok: hits.length > 0, content: texts.flatMap((text, i) => (i > 0 ? [NEXT_PASSAGE, ...text] : text)) };
  },
};

/** The corpus, limits and rewards with which a question is asked. */
export interface QuestionSetting {
  readonly documents: Documents;
  readonly slots: EntitySlots;
  readonly spoken: ReadonlySet<string>; // words of the vocabulary that may be in a query or an answer
  readonly topPassages: number;
  readonly maxTurns: number;
  readonly span: number; // largest number of words of a query or an answer
  readonly payoff: 'exact' | 'f1';
}

/** A task with a function that makes a search on the agent's behalf, for naive RAG. */
export interface DocumentTask extends Task {
  readonly topic: readonly string[]; // the question's words that may be searched for
  readonly lookUp: (words: readonly string[], turn: number, tools: ToolRunner) => Outcome;
}

/**
 * Makes the task of one question about the corpus. A call's progress is the number of needed passages that it is the
 * first to return. Success is an exact match. The payoff of an answer is its exact match or its F1, as `payoff` says.
 */
export function documentTask(question: Question, setting: QuestionSetting): DocumentTask {
  const { documents, slots, spoken, topPassages: top, maxTurns, span } = setting;
  const { corpus } = documents;
  const questionWords = slots.write(wordsOf(question.text));
  const content = questionWords.filter((word) => spoken.has(word));
  const missingPassages = new Map(question.passages.map((title, i) => [title, question.queries[i] ?? '']));
  const searches: (Omit<Search, 'passages'> & { readonly hits: readonly Hit[] })[] = [];
  let lastRead: readonly string[] = questionWords; // the words last read, with slots
  let givenAnswer: string | null = null;
  let givenAt: number | null = null;
  const nextQuery = () => missingPassages.values().next().value;
  // before all needed passages are found, the best answer is a word of the question
  const bestAnswer = () => {
    const right = nextQuery() === undefined ? slots.write(wordsOf(question.answer)) : [];
    return right.length > 0 && right.every((word) => spoken.has(word)) ? right : content.slice(0, 1);
  };

  /** Draws one or two neighbouring words that may be spoken. */
  const someSpan = (text: readonly string[], draw: Random): readonly string[] => {
    const starts = text.flatMap((word, i) => (spoken.has(word) ? [i] : []));
    if (starts.length === 0) return content.slice(0, 1);
    const start = draw.pick(starts);
    const next = text[start + 1] ?? '';
    return text.slice(start, start + (spoken.has(next) && draw.next() < 0.5 ? MAX_SPAN_WORDS : 1));
  };
  const wrongWord = (draw: Random) => {
    const atHand = draw.next() < PLAUSIBLE_SHARE ? [...content, ...lastRead.filter((w) => spoken.has(w))] : [...spoken];
    return draw.pick(atHand);
  };

  const lookUp = (args: readonly string[], turn: number, tools: ToolRunner): Outcome => {
    const query = slots.read(args);
    const { ok, content: words } = tools(retrieve, query, { corpus, top });
    const hits = ok ? corpus.search(query.join(' '), top) : [];
    const found = hits.filter(({ passage }) => missingPassages.delete(passage.title));
    searches.push({ turn, query: query.join(' '), failed: !ok && words.length > 0, hits });
    const observation = words.length > 0 ? slots.write(words) : [NOTHING];
    if (ok) lastRead = observation;
    return { observation, progress: found.length, stop: null, success: false };
  };

  const demonstrate = (quality: number, draw: Random, turn: number): readonly string[] => {
    const query = nextQuery();
    const doesRight = () => draw.next() < quality;
    const search = turn < maxTurns && (doesRight() ? query !== undefined : query !== undefined && draw.next() < 0.5);
    if (!search) return ['<answer>', ...(doesRight() ? bestAnswer() : someSpan(lastRead, draw)), '</answer>'];
    const right = slots.write(wordsOf(query ?? ''));
    return ['<call>', ...right.map((word) => (doesRight() ? word : wrongWord(draw))), '</call>'];
  };

  return {
    key: question.text,
    prompt: ['<bos>', ...questionWords, '?'],
    question: `${question.text}?`.replace(/^./, (first) => first.toUpperCase()),
    names: slots.names,
    call: (args, turn, tools) => (args.length < 1 || args.length > span ? null : lookUp(args, turn, tools)),
    lookUp,
    topic: content,
    answer(args, turn) {
      if (args.length < 1 || args.length > span) return null;
      givenAnswer = slots.read(args).join(' ');
      givenAt = turn;
      const { exact, f1 } = answerScores(givenAnswer, question.answer);
      const payoff = setting.payoff === 'f1' ? f1 : exact;
      return { observation: [], progress: 0, stop: 'answered', success: exact === 1, payoff };
    },
    needs: (turn) => (nextQuery() !== undefined && turn >= maxTurns ? [] : rightWords()),
    expert: (turn) =>
      nextQuery() !== undefined && turn < maxTurns
        ? ['<call>', ...rightWords(), '</call>']
        : ['<answer>', ...bestAnswer(), '</answer>'],
    demonstrate,
    scores: () => answerScores(givenAnswer, question.answer),
    view: () => ({
      kind: 'passages',
      title: 'Document search',
      searches: searches.map(({ hits, ...search }) => ({ ...search, passages: hits.map(viewOf) })),
      answer: question.answer,
      given: givenAnswer,
      givenAt,
      scores: answerScores(givenAnswer, question.answer),
    }),
    data: () => ({
      kind: 'documents',
      question: wordsOf(question.text),
      answer: question.answer,
      answerWords: wordsOf(question.answer),
      passages: question.passages,
      queries: question.queries.map(wordsOf),
      slots: slots.order,
    }),
  };

  function rightWords(): readonly string[] {
    const query = nextQuery();
    return query === undefined ? bestAnswer() : slots.write(wordsOf(query));
  }

  function viewOf({ passage, matched }: Hit): Search['passages'][number] {
    const { title, text } = passage;
    const end = wordPlaces(text)[PASSAGE_WORDS]?.from ?? text.length;
    const gold = question.passages.includes(title);
    const at = gold && title === question.passages.at(-1) ? text.slice(0, end).lastIndexOf(question.answer) : -1;
    return {
      title,
      text,
      read: end,
      gold,
      titleMarks: marks(title, matched),
      marks: marks(text, matched),
      answer: at < 0 ? null : [at, at + question.answer.length],
    };
  }
}

/** The observation of a search without a hit. */
export const NOTHING = 'nothing';

/** Returns the positions of the text's words that, in lower case, are among `words`. */
function marks(text: string, words: readonly string[]): readonly (readonly [from: number, to: number])[] {
  return wordPlaces(text)
    .filter(({ word }) => words.includes(word.toLowerCase()))
    .map(({ word, from }) => [from, from + word.length] as const);
}
