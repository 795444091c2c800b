import type { RunConfig } from '../config/config.ts';
import { Purpose, random, type Random } from '../base/rng.ts';
import {
  type DocumentTask,
  documentTask,
  NEXT_PASSAGE,
  NOTHING,
  retrieve,
  MAX_SPAN_WORDS,
  TITLE_END,
} from './documentTask.ts';
import { checkedAnswers } from './taskFormAnswers.ts';
import { ProblemError } from '../base/problem.ts';
import { type Documents, openDocuments, PASSAGE_WORDS, type Question } from './documentCollection.ts';
import type { Asking, EnvSettings, Reset, ToolEnv } from './env.ts';
import { type Task, toolRunner } from './episodeRules.ts';
import { wordsOf } from './lexicalIndex.ts';
import { documentFace } from './documentFace.ts';
import { emptyEntitySlots, PLAIN_WORDS, entitySlotWords, UNNAMED } from './entitySlots.ts';
import type { ChatTokenizer } from '../text/chatTokenizer.ts';
import { turnRules } from './turnRules.ts';
import { FAILURE_WORD, vocabulary } from './vocab.ts';

/** Knobs that fix the shape of the environment. */
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
  const { topPassages, maxTurns, answerReward: payoff, think, chatTokenizer } = options;
  const documents = openDocuments();
  const { longestQuestion, longestTitle, words: common } = documents;
  // a passage has about two names, two other words and at most one number; the extra slots are for passages with more
  const passagesRead = topPassages * Math.max(1, maxTurns - 1);
  const slots = entitySlotWords({
    name: 5 + 3 * passagesRead,
    number: 2 + 2 * passagesRead,
    word: 3 + 3 * passagesRead,
  });
  const slotList = Object.values(slots).flat();
  const ownWords = new Set([...common, FAILURE_WORD, NOTHING, TITLE_END, NEXT_PASSAGE]);
  const words = vocabulary([...common, NOTHING, '?', TITLE_END, NEXT_PASSAGE, UNNAMED, ...slotList]);
  const spoken = [...common.filter((word) => !FUNCTION_WORDS.has(word)), ...slotList];
  const span = {
    places: Array.from({ length: MAX_SPAN_WORDS }, () => spoken),
    lengths: Array.from({ length: MAX_SPAN_WORDS }, (_, i) => i + 1),
  };
  const text = chatTokenizer ? { chatTokenizer, face: documentFace(documents, topPassages, TEXT_SPAN) } : null;
  const { begin, episodeTokens, ...rules } = turnRules({
    vocabulary: words,
    think,
    maxTurns,
    call: span,
    answer: span,
    text,
  });
  const setting = {
    ...{ documents, topPassages, payoff, maxTurns },
    ...(chatTokenizer
      ? { spoken: topicWords(documents), span: TEXT_SPAN }
      : { spoken: new Set(spoken), span: MAX_SPAN_WORDS }),
  };
  const slotsFor = (draw: Random) => (chatTokenizer ? PLAIN_WORDS : emptyEntitySlots(ownWords, slots, draw));
  const task = (pool: Pool, oneShare: number, turns: number, draw: Random): DocumentTask => {
    const question = draw.pick(draw.next() < oneShare ? pool.one : pool.two);
    return documentTask(question, { ...setting, slots: slotsFor(draw), maxTurns: turns });
  };
  const questionTasks = (pool: Pool, oneShare?: number) =>
    begin((draw, _, { oneHopShare }) => task(pool, oneShare ?? oneHopShare, maxTurns, draw));

  const trainPool = poolOf(documents.questions.filter(({ split }) => split === 'train'));
  const heldOutPool = poolOf(documents.questions.filter(({ split }) => split === 'held-out'));
  const unreadPool = poolOf(documents.questions.filter(({ split }) => split === 'unread'));
  const prompt = 2 + longestQuestion;
  const observation = 2 + topPassages * (longestTitle + 1 + PASSAGE_WORDS) + topPassages - 1;
  const playedTokens = maxTurns * rules.maxTurnTokens + (maxTurns - 1) * observation;
  // the naive RAG prompt also holds the words of the question as a query, and an observation; then one turn follows
  const retrievedTokens = 2 + longestQuestion + observation + rules.maxTurnTokens;
  return {
    name: 'document-search',
    description: 'Answer a question with words of a passage, or of a second one that the first leads to.',
    vocabulary: rules.vocabulary,
    tools: [retrieve],
    maxTokens: episodeTokens(prompt + Math.max(playedTokens, retrievedTokens)),
    maxTurnTokens: rules.maxTurnTokens,
    grammar: rules.grammar,
    reset: questionTasks(trainPool),
    // as many questions of one passage as of two
    demonstration: questionTasks(trainPool, 0.5),
    splits: {
      heldOut: { reset: questionTasks(heldOutPool), doc: 'Questions that training never asks.' },
      entities: {
        reset: questionTasks(unreadPool),
        doc: 'Each question needs a passage that no question of training does.',
      },
      shifted: { reset: questionTasks(unreadPool, 0), doc: 'The same, and each question takes two passages.' },
    },
    ...(!chatTokenizer && {
      data: {
        ...{ kind: 'documents', maxTurns, topPassages, payoff },
        passages: documents.corpus.passages.map(({ title, titleWords, textWords }) => ({
          title,
          titleWords,
          textWords,
        })),
        own: [...ownWords],
        spoken,
      },
    }),
    retrieved: begin(
      (draw, { environmentSeed }, settings) =>
        retrieveFirst(task(heldOutPool, settings.oneHopShare, 1, draw), environmentSeed, settings),
      { maxTurns: 1 },
    ),
    asking: ownQuestions(documents, (question) =>
      begin((draw) => documentTask(question, { ...setting, slots: slotsFor(draw) })),
    ),
  };
}

/**
 * Largest number of words of a query or an answer in text. It is larger than in words, because the agent is not told
 * the limit.
 */
const TEXT_SPAN = 6;

/** Returns the words of the corpus and the questions that carry a topic, in their original case. */
function topicWords({ corpus, questions }: Documents): ReadonlySet<string> {
  const all = [
    ...corpus.passages.flatMap(({ titleWords, textWords }) => [...titleWords, ...textWords]),
    ...questions.flatMap(({ text, answer, queries }) => [text, answer, ...queries].flatMap(wordsOf)),
  ];
  return new Set(all.filter((word) => !FUNCTION_WORDS.has(word.toLowerCase())));
}

/**
 * Makes the form in which a person asks about the corpus. The right answer is only known if the question is one of the
 * corpus's questions.
 */
function ownQuestions({ questions, longestQuestion }: Documents, asking: (question: Question) => Reset): Asking {
  const form = {
    doc: `Ask in at most ${longestQuestion} words. Only of a question that stands in the corpus’s list is the right answer known.`,
    blanks: [{ label: 'Question', words: null, optional: false }],
    example: [`${questions.find(({ split }) => split === 'held-out')?.text ?? ''}?`],
  };
  return {
    ...form,
    ask: (words) => {
      const text = (checkedAnswers(form, words)[0] ?? '').replace(/\?+$/, '').trim();
      const { length } = wordsOf(text);
      if (length === 0 || length > longestQuestion) {
        throw new ProblemError(`The question has ${length} words. Use 1 to ${longestQuestion}.`);
      }
      const known = questions.find((question) => question.text.toLowerCase() === text.toLowerCase());
      return {
        begin: asking(known ?? { split: 'held-out', text, answer: '', passages: [], queries: [] }),
        judged: known !== undefined,
      };
    },
  };
}

/** Questions by the number of passages that they need. */
interface Pool {
  readonly one: readonly Question[];
  readonly two: readonly Question[];
}

function poolOf(questions: readonly Question[]): Pool {
  return {
    one: questions.filter(({ passages }) => passages.length === 1),
    two: questions.filter(({ passages }) => passages.length === 2),
  };
}

/**
 * Returns the task with one search in its prompt. The environment searches for the words of the question, with the same
 * tool, which may fail.
 */
function retrieveFirst(task: DocumentTask, environmentSeed: number, { failureRate }: EnvSettings): Task {
  const found = task.lookUp(task.topic, 0, toolRunner(failureRate, random(environmentSeed, Purpose.environment, 0, 1)));
  return {
    ...task,
    prompt: [...task.prompt, '<call>', ...task.topic, '</call>', '<obs>', ...found.observation, '</obs>'],
  };
}
