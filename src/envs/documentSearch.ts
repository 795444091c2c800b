import type { RunConfig } from '../config/config.ts';
import { Purpose, random, type Random } from '../base/rng.ts';
import {
  type DocumentTask,
  documentTask,
  PASSAGE_SEPARATOR,
  NO_HITS_WORD,
  searchTool,
  MAX_SPAN_WORDS,
  TITLE_END,
} from './documentTask.ts';
import { checkedAnswers } from '../domain/taskForm.ts';
import { ProblemError } from '../base/problem.ts';
import { type Documents, openDocuments, PASSAGE_WORDS, type Question } from './documentCollection.ts';
import type { TaskForm, EnvSettings, Reset, ToolEnv } from './env.ts';
import { type Task, toolRunner } from './episodeRules.ts';
import { wordsOf } from './lexicalIndex.ts';
import { emptyEntitySlots, NO_SLOTS, entitySlotWords, NO_SLOT_WORD } from './entitySlots.ts';
import type { ChatTokenizer } from '../text/chatTokenizer.ts';
import { buildTurns } from './turnRules.ts';
import { FAILURE_WORD, buildVocabulary } from './vocab.ts';
import { longestOf, type TextFace } from './textFace.ts';

export interface DocumentSearchOptions {
  readonly topPassages: number; // in an observation
  readonly maxTurns: number; // the last one can only answer
  readonly answerReward: RunConfig['answerReward'];
  readonly think: boolean;
  readonly chatTokenizer?: ChatTokenizer | null; // if given, the agent plays in text with this tokenizer
}

// Words without a topic. They are read, but cannot be searched for or answered.
const FUNCTION_WORDS = new Set([
  'a',
  'an',
  'and',
  'are',
  'as',
  'at',
  'by',
  'does',
  'for',
  'from',
  'his',
  'how',
  'in',
  'into',
  'is',
  'its',
  'near',
  'of',
  'on',
  'or',
  'that',
  'the',
  'to',
  'was',
  'what',
  'when',
  'where',
  'which',
  'who',
  'with',
]);

/**
 * Document search: a question whose answer is a span of one passage of a corpus, or of a second passage that a first
 * one leads to (a bridge question, as in HotpotQA, arXiv 1809.09600). The tool is a BM25 index over the whole corpus.
 * Common words are tokens. All other words are written as slots that are renamed in each episode, so nothing can be
 * answered without reading. A slot only shows the type of its word: a name, a number or another word.
 */
export function documentSearch(options: DocumentSearchOptions): ToolEnv {
  const { topPassages, maxTurns, answerReward, think, chatTokenizer } = options;
  const documents = openDocuments();
  const { maxQuestionWords, maxTitleWords, commonWords } = documents;
  // a passage has about two names, two other words and at most one number; the extra slots are for passages with more
  const passagesRead = topPassages * Math.max(1, maxTurns - 1);
  const slots = entitySlotWords({
    name: 5 + 3 * passagesRead,
    number: 2 + 2 * passagesRead,
    word: 3 + 3 * passagesRead,
  });
  const slotList = Object.values(slots).flat();
  const ownWords = new Set([...commonWords, FAILURE_WORD, NO_HITS_WORD, TITLE_END, PASSAGE_SEPARATOR]);
  const vocabulary = buildVocabulary([
    ...commonWords,
    NO_HITS_WORD,
    '?',
    TITLE_END,
    PASSAGE_SEPARATOR,
    NO_SLOT_WORD,
    ...slotList,
  ]);
  const usableWords = [...commonWords.filter((word) => !FUNCTION_WORDS.has(word)), ...slotList];
  const spanSentence = {
    legalWords: Array.from({ length: MAX_SPAN_WORDS }, () => usableWords),
    lengths: Array.from({ length: MAX_SPAN_WORDS }, (_, i) => i + 1),
  };
  const text = chatTokenizer ? { chatTokenizer, face: documentFace(documents, topPassages, MAX_TEXT_WORDS) } : null;
  const { makeReset, episodeTokens, ...rules } = buildTurns({
    vocabulary,
    think,
    maxTurns,
    call: spanSentence,
    answer: spanSentence,
    text,
  });
  const taskOptions = {
    ...{ documents, topPassages, answerReward, maxTurns },
    ...(chatTokenizer
      ? { usableWords: topicWords(documents), maxWords: MAX_TEXT_WORDS }
      : { usableWords: new Set(usableWords), maxWords: MAX_SPAN_WORDS }),
  };
  const slotsFor = (draw: Random) => (chatTokenizer ? NO_SLOTS : emptyEntitySlots(ownWords, slots, draw));
  const task = (questions: QuestionsByPassages, onePassageShare: number, turns: number, draw: Random): DocumentTask => {
    const question = draw.pick(draw.next() < onePassageShare ? questions.onePassage : questions.twoPassages);
    return documentTask(question, { ...taskOptions, slots: slotsFor(draw), maxTurns: turns });
  };
  const questionTasks = (questionSet: QuestionsByPassages, fixedOnePassageShare?: number) =>
    makeReset((draw, _, { oneHopShare }) => task(questionSet, fixedOnePassageShare ?? oneHopShare, maxTurns, draw));

  const trainQuestions = byPassageCount(documents.questions.filter(({ split }) => split === 'train'));
  const heldOutQuestions = byPassageCount(documents.questions.filter(({ split }) => split === 'held-out'));
  const unreadQuestions = byPassageCount(documents.questions.filter(({ split }) => split === 'unread'));
  const maxPromptTokens = 2 + maxQuestionWords;
  const maxObservationTokens = 2 + topPassages * (maxTitleWords + 1 + PASSAGE_WORDS) + topPassages - 1;
  const maxTurnsTokens = maxTurns * rules.maxTurnTokens + (maxTurns - 1) * maxObservationTokens;
  // the naive RAG prompt also holds the words of the question as a query, and an observation; then one turn follows
  const maxNaiveRagTokens = 2 + maxQuestionWords + maxObservationTokens + rules.maxTurnTokens;
  return {
    name: 'document-search',
    description: 'Answer a question with words of a passage, or of a second one that the first leads to.',
    vocabulary: rules.vocabulary,
    tools: [searchTool],
    maxTokens: episodeTokens(maxPromptTokens + Math.max(maxTurnsTokens, maxNaiveRagTokens)),
    maxTurnTokens: rules.maxTurnTokens,
    grammar: rules.grammar,
    reset: questionTasks(trainQuestions),
    // as many questions of one passage as of two
    demonstration: questionTasks(trainQuestions, 0.5),
    splits: {
      heldOut: { reset: questionTasks(heldOutQuestions), doc: 'Questions that training never asks.' },
      entities: {
        reset: questionTasks(unreadQuestions),
        doc: 'Each question needs a passage that no question of training does.',
      },
      shifted: { reset: questionTasks(unreadQuestions, 0), doc: 'The same, and each question takes two passages.' },
    },
    naiveRag: makeReset(
      (draw, { environmentSeed }, settings) =>
        withFirstSearch(task(heldOutQuestions, settings.oneHopShare, 1, draw), environmentSeed, settings),
      { maxTurns: 1 },
    ),
    taskForm: questionForm(documents, (question) =>
      makeReset((draw) => documentTask(question, { ...taskOptions, slots: slotsFor(draw) })),
    ),
  };
}

/** Largest number of words of a query or an answer in text: larger than in words, because the agent is not told the limit. */
const MAX_TEXT_WORDS = 6;

/** Returns the words of the corpus and the questions that carry a topic, in their original case. */
function topicWords({ corpus, questions }: Documents): ReadonlySet<string> {
  const all = [
    ...corpus.passages.flatMap(({ titleWords, textWords }) => [...titleWords, ...textWords]),
    ...questions.flatMap(({ text, answer, queries }) => [text, answer, ...queries].flatMap(wordsOf)),
  ];
  return new Set(all.filter((word) => !FUNCTION_WORDS.has(word.toLowerCase())));
}

/** The right answer is only known if the question is one of the corpus's questions. */
function questionForm({ questions, maxQuestionWords }: Documents, makeReset: (question: Question) => Reset): TaskForm {
  const form = {
    doc: `Ask in at most ${maxQuestionWords} words. Only of a question that stands in the corpus’s list is the right answer known.`,
    blanks: [{ label: 'Question', words: null, optional: false }],
    example: [`${questions.find(({ split }) => split === 'held-out')?.text ?? ''}?`],
  };
  return {
    ...form,
    makeTask: (words) => {
      const text = (checkedAnswers(form, words)[0] ?? '').replace(/\?+$/, '').trim();
      const { length } = wordsOf(text);
      if (length === 0 || length > maxQuestionWords) {
        throw new ProblemError(`The question has ${length} words. Use 1 to ${maxQuestionWords}.`);
      }
      const known = questions.find((question) => question.text.toLowerCase() === text.toLowerCase());
      return {
        reset: makeReset(known ?? { split: 'held-out', text, answer: '', passages: [], queries: [] }),
        answerKnown: known !== undefined,
      };
    },
  };
}

interface QuestionsByPassages {
  readonly onePassage: readonly Question[];
  readonly twoPassages: readonly Question[];
}

function byPassageCount(questions: readonly Question[]): QuestionsByPassages {
  return {
    onePassage: questions.filter(({ passages }) => passages.length === 1),
    twoPassages: questions.filter(({ passages }) => passages.length === 2),
  };
}

/** The environment searches for the words of the question, with the same tool, which may fail. */
function withFirstSearch(task: DocumentTask, environmentSeed: number, { failureRate }: EnvSettings): Task {
  const found = task.lookUp(
    task.searchableWords,
    0,
    toolRunner(failureRate, random(environmentSeed, Purpose.environment, 0, 1)),
  );
  return {
    ...task,
    prompt: [...task.prompt, '<call>', ...task.searchableWords, '</call>', '<obs>', ...found.observation, '</obs>'],
  };
}

/** Words are written as in the corpus, and a passage is its title and the words of its text. */
function documentFace({ corpus, questions }: Documents, topPassages: number, maxWords: number): TextFace {
  const checkedWords = (kind: string, text: unknown) => {
    const words = wordsOf(String(text));
    if (words.length >= 1 && words.length <= maxWords) return words;
    return { wrong: `${words.length} words as ${kind}; want 1 to ${maxWords}` };
  };
  const observation = (words: readonly string[]) =>
    words.join(' ').replaceAll(` ${TITLE_END} `, `${TITLE_END} `).replaceAll(` ${PASSAGE_SEPARATOR} `, '\n');
  return {
    system: 'You search for passages, then answer in their words.',
    tools: [{ name: 'search', description: 'Finds the passages that best match a few words.', parameters: ['query'] }],
    question: (_, question) => question,
    callWords: ({ query }) => checkedWords('query', query),
    call: (words) => ({ tool: 'search', values: { query: words.join(' ') } }),
    answerWords: (text) => checkedWords('the answer', text),
    answerText: (words) => words.join(' '),
    observation,
    longestTexts: (countTokens) => {
      const passages = corpus.passages.map(({ titleWords, textWords }) =>
        observation([...titleWords, TITLE_END, ...textWords.slice(0, PASSAGE_WORDS)]),
      );
      const passage = longestOf(passages, countTokens);
      const query = longestOf(
        questions.flatMap(({ queries }) => queries),
        countTokens,
      );
      const answer = longestOf(
        questions.map((question) => question.answer),
        countTokens,
      );
      const asked = longestOf(
        questions.map(({ text }) => `${text}?`),
        countTokens,
      );
      return {
        questions: [asked],
        turns: [{ tool: 'search', values: { query } }, { answer }],
        observations: [Array.from({ length: topPassages }, () => passage).join('\n'), NO_HITS_WORD, FAILURE_WORD],
      };
    },
  };
}
