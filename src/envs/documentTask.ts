import type { EnvView, AnswerScores } from '../domain/envView.ts';
import type { Random } from '../base/rng.ts';
import { type Documents, PASSAGE_WORDS, type Question } from './documentCollection.ts';
import type { Tool } from './env.ts';
import type { Outcome, Task, ToolRunner } from './episodeRules.ts';
import { type Hit, type LexicalIndex, wordPositions, wordsOf } from './lexicalIndex.ts';
import type { EntitySlots } from './entitySlots.ts';

/** HotpotQA's `normalize_answer` (hotpot_evaluate_v1.py): lower case, no ASCII punctuation, no a, an, the; collapsed white space. */
export function normalizeAnswer(text: string): string {
  return text
    .toLowerCase()
    .replace(/[!-/:-@[-`{-~]/g, '')
    .replace(/(?<![\p{L}\p{N}_])(?:a|an|the)(?![\p{L}\p{N}_])/gu, ' ')
    .split(/\s+/)
    .filter(Boolean)
    .join(' ');
}

// these answers get no partial credit (HotpotQA)
const ALL_OR_NOTHING = ['yes', 'no', 'noanswer'];

/** HotpotQA's token F1: the harmonic mean of precision and recall over the multiset of words, after normalization. */
export function answerF1(given: string, wanted: string): number {
  const [answer, gold] = [normalizeAnswer(given), normalizeAnswer(wanted)];
  if (answer !== gold && (ALL_OR_NOTHING.includes(answer) || ALL_OR_NOTHING.includes(gold))) return 0;
  const unmatched = gold.split(' ').filter(Boolean);
  const [answerWords, goldWords] = [answer.split(' ').filter(Boolean).length, unmatched.length];
  let common = 0;
  for (const word of answer.split(' ')) {
    const at = unmatched.indexOf(word);
    if (at < 0) continue;
    unmatched.splice(at, 1);
    common++;
  }
  return common === 0 ? 0 : (2 * common) / (answerWords + goldWords);
}

/** Scores an answer by exact match, by containing the wanted answer (both normalized), and by F1. */
export function answerScores(given: string | null, wanted: string): AnswerScores {
  if (given === null) return { exact: 0, contains: 0, f1: 0 };
  const [answer, gold] = [normalizeAnswer(given), normalizeAnswer(wanted)];
  return { exact: answer === gold ? 1 : 0, contains: answer.includes(gold) ? 1 : 0, f1: answerF1(given, wanted) };
}

type Search = Extract<EnvView, { kind: 'passages' }>['searches'][number];

/** The word between the title and the text of a passage. */
export const TITLE_END = ':';
/** The word between two passages. */
export const PASSAGE_SEPARATOR = '|';
/** Largest number of words of a query or an answer. */
export const MAX_SPAN_WORDS = 2;
// When a demonstrator errs, it picks a word from the question or the last observation with this probability.
const PLAUSIBLE_SHARE = 0.8;

/** The best passages of the whole corpus for a query of words: each title with as much of the text as an agent reads. */
export const searchTool: Tool<{ readonly corpus: LexicalIndex; readonly top: number }> = {
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
    return { ok: hits.length > 0, content: texts.flatMap((text, i) => (i > 0 ? [PASSAGE_SEPARATOR, ...text] : text)) };
  },
};

export interface DocumentTaskOptions {
  readonly documents: Documents;
  readonly slots: EntitySlots;
  readonly usableWords: ReadonlySet<string>; // words of the vocabulary that may be in a query or an answer
  readonly topPassages: number;
  readonly maxTurns: number;
  readonly maxWords: number; // largest number of words of a query or an answer
  readonly answerReward: 'exact' | 'f1';
}

/** A task with a function that makes a search on the agent's behalf, for naive RAG. */
export interface DocumentTask extends Task {
  readonly searchableWords: readonly string[]; // the question's words that may be searched for
  readonly lookUp: (words: readonly string[], turn: number, tools: ToolRunner) => Outcome;
}

/**
 * Makes the task of one question about the corpus. A call's progress is the number of needed passages that it is the
 * first to return. Success is an exact match. An answer's share of the outcome reward is its exact match or its F1, as
 * `answerReward` says.
 */
export function documentTask(question: Question, options: DocumentTaskOptions): DocumentTask {
  const { documents, slots, usableWords, topPassages: top, maxTurns, maxWords } = options;
  const { corpus } = documents;
  const questionWords = slots.encode(wordsOf(question.text));
  const searchableWords = questionWords.filter((word) => usableWords.has(word));
  const missingPassages = new Map(question.passages.map((title, i) => [title, question.queries[i] ?? '']));
  const searches: (Omit<Search, 'passages'> & { readonly hits: readonly Hit[] })[] = [];
  let lastWordsRead: readonly string[] = questionWords; // the words last read, with slots
  let givenAnswer: string | null = null;
  let answerTurn: number | null = null;
  const nextQuery = () => missingPassages.values().next().value;
  /** Null if the agent can't write them. A slot for a word that wasn't read is one of the free ones. */
  const rightAnswerWords = () => {
    const right = slots.encode(wordsOf(question.answer));
    return right.length > 0 && right.every((word) => usableWords.has(word)) ? right : null;
  };
  // before all needed passages are found, the best answer is a word of the question
  const bestAnswer = () => {
    const right = nextQuery() === undefined ? rightAnswerWords() : null;
    return right ?? searchableWords.slice(0, 1);
  };

  /** Draws one or two neighbouring usable words; the first searchable word if there is none. */
  const randomSpan = (text: readonly string[], draw: Random): readonly string[] => {
    const starts = text.flatMap((word, i) => (usableWords.has(word) ? [i] : []));
    if (starts.length === 0) return searchableWords.slice(0, 1);
    const start = draw.pick(starts);
    const next = text[start + 1] ?? '';
    return text.slice(start, start + (usableWords.has(next) && draw.next() < 0.5 ? MAX_SPAN_WORDS : 1));
  };
  const plausibleWord = (draw: Random) => {
    const candidates =
      draw.next() < PLAUSIBLE_SHARE
        ? [...searchableWords, ...lastWordsRead.filter((w) => usableWords.has(w))]
        : [...usableWords];
    return draw.pick(candidates);
  };

  const lookUp = (args: readonly string[], turn: number, tools: ToolRunner): Outcome => {
    const query = slots.decode(args);
    const { ok, content: words } = tools(searchTool, query, { corpus, top });
    const hits = ok ? corpus.search(query.join(' '), top) : [];
    const newHits = hits.filter(({ passage }) => missingPassages.delete(passage.title));
    searches.push({ turn, query: query.join(' '), failed: !ok && words.length > 0, hits });
    const observation = words.length > 0 ? slots.encode(words) : [NO_HITS_WORD];
    if (ok) lastWordsRead = observation;
    return { observation, progress: newHits.length, stop: null, success: false };
  };

  const demonstrate = (quality: number, draw: Random, turn: number): readonly string[] => {
    const query = nextQuery();
    const choosesRight = () => draw.next() < quality;
    const search = turn < maxTurns && (choosesRight() ? query !== undefined : query !== undefined && draw.next() < 0.5);
    if (!search) return ['<answer>', ...(choosesRight() ? bestAnswer() : randomSpan(lastWordsRead, draw)), '</answer>'];
    const right = slots.encode(wordsOf(query ?? ''));
    return ['<call>', ...right.map((word) => (choosesRight() ? word : plausibleWord(draw))), '</call>'];
  };

  return {
    key: question.text,
    prompt: ['<bos>', ...questionWords, '?'],
    question: `${question.text}?`.replace(/^./, (first) => first.toUpperCase()),
    names: slots.names,
    call: (args, turn, tools) => (args.length < 1 || args.length > maxWords ? null : lookUp(args, turn, tools)),
    lookUp,
    searchableWords,
    answer(args, turn) {
      if (args.length < 1 || args.length > maxWords) return null;
      givenAnswer = slots.decode(args).join(' ');
      answerTurn = turn;
      const { exact, f1 } = answerScores(givenAnswer, question.answer);
      const outcomeShare = options.answerReward === 'f1' ? f1 : exact;
      return { observation: [], progress: 0, stop: 'answered', success: exact === 1, outcomeShare };
    },
    neededWords: (turn) => (nextQuery() !== undefined && turn >= maxTurns ? [] : rightWords()),
    rightAnswer: () => {
      const words = rightAnswerWords();
      return words && ['<answer>', ...words, '</answer>'];
    },
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
      givenAt: answerTurn,
      scores: answerScores(givenAnswer, question.answer),
    }),
  };

  function rightWords(): readonly string[] {
    const query = nextQuery();
    return query === undefined ? bestAnswer() : slots.encode(wordsOf(query));
  }

  function viewOf({ passage, matched }: Hit): Search['passages'][number] {
    const { title, text } = passage;
    const end = wordPositions(text)[PASSAGE_WORDS]?.start ?? text.length;
    const gold = question.passages.includes(title);
    const answerStart =
      gold && title === question.passages.at(-1) ? text.slice(0, end).lastIndexOf(question.answer) : -1;
    return {
      title,
      text,
      read: end,
      gold,
      titleMarks: matchRanges(title, matched),
      marks: matchRanges(text, matched),
      answer: answerStart < 0 ? null : [answerStart, answerStart + question.answer.length],
    };
  }
}

export const NO_HITS_WORD = 'nothing';

/** Returns the positions of the text's words that, in lower case, are among `words`. */
function matchRanges(text: string, words: readonly string[]): readonly (readonly [from: number, to: number])[] {
  return wordPositions(text)
    .filter(({ word }) => words.includes(word.toLowerCase()))
    .map(({ word, start: from }) => [from, from + word.length] as const);
}
