import type { RunConfig } from '../config/config.ts';
import { Purpose, random, type Random } from '../base/rng.ts';
import { type DocumentTask, documentTask, NEXT_PASSAGE, NOTHING, retrieve, SPAN, TITLE_END } from './documentTask.ts';
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
  readonly chatTokenizer?: ChatTokenizer | null; // it is played in text
}

// Words that carry no topic: they are read, but neither searched for nor answered.
// prettier-ignore
const FUNCTION_WORDS = new Set([
  'a', 'an', 'and', 'are', 'as', 'at', 'by', 'does', 'for', 'from', 'his', 'how', 'in', 'into', 'is', 'its', 'near', 'of', 'on',
  'or', 'that', 'the', 'to', 'was', 'what', 'when', 'where', 'which', 'who', 'with',
]);

/**
 * Document search: a question whose answer is a span of one passage of a corpus, or of a second one that a first one leads
 * to (a bridge, as in HotpotQA, arXiv 1809.09600). The tool is a BM25 index over all of it. Common words are tokens of their
 * own, all others slots that are renamed in each episode, so that nothing can be answered without reading; of a slot's word
 * only its kind is seen: a name, a number, another word.
 */
export function documentSearch(options: DocumentSearchOptions): ToolEnv {
  const { topPassages, maxTurns, answerReward: payoff, think, chatTokenizer } = options;
  const documents = openDocuments();
  const { longestQuestion, longestTitle, words: common } = documents;
  // a passage has some two names, two other words and a number at most; a few more leave room for those that have more
  const read = topPassages * Math.max(1, maxTurns - 1);
  const slots = entitySlotWords({ name: 5 + 3 * read, number: 2 + 2 * read, word: 3 + 3 * read });
  const slotList = Object.values(slots).flat();
  const own = new Set([...common, FAILURE_WORD, NOTHING, TITLE_END, NEXT_PASSAGE]);
  const words = vocabulary([...common, NOTHING, '?', TITLE_END, NEXT_PASSAGE, UNNAMED, ...slotList]);
  const spoken = [...common.filter((word) => !FUNCTION_WORDS.has(word)), ...slotList];
  const span = {
    places: Array.from({ length: SPAN }, () => spoken),
    lengths: Array.from({ length: SPAN }, (_, i) => i + 1),
  };
  const text = chatTokenizer ? { chatTokenizer, face: documentFace(documents, topPassages, TEXT_SPAN) } : null;
  const { begin, room, ...inTurns } = turnRules({ vocabulary: words, think, maxTurns, call: span, answer: span, text });
  const setting = {
    ...{ documents, topPassages, payoff, maxTurns },
    ...(chatTokenizer ? { spoken: topicWords(documents), span: TEXT_SPAN } : { spoken: new Set(spoken), span: SPAN }),
  };
  const slotsFor = (draw: Random) => (chatTokenizer ? PLAIN_WORDS : emptyEntitySlots(own, slots, draw));
  const task = (pool: Pool, oneShare: number, turns: number, draw: Random): DocumentTask => {
    const question = draw.pick(draw.next() < oneShare ? pool.one : pool.two);
    return documentTask(question, { ...setting, slots: slotsFor(draw), maxTurns: turns });
  };
  const asking = (pool: Pool, oneShare?: number) =>
    begin((draw, _, { oneHopShare }) => task(pool, oneShare ?? oneHopShare, maxTurns, draw));

  const trained = poolOf(documents.questions.filter(({ split }) => split === 'train'));
  const heldOut = poolOf(documents.questions.filter(({ split }) => split === 'held-out'));
  const unread = poolOf(documents.questions.filter(({ split }) => split === 'unread'));
  const prompt = 2 + longestQuestion;
  const observation = 2 + topPassages * (longestTitle + 1 + PASSAGE_WORDS) + topPassages - 1;
  const played = maxTurns * inTurns.maxTurnTokens + (maxTurns - 1) * observation;
  // naive RAG has the words of the question once more, an observation, and one turn
  const retrieved = 2 + longestQuestion + observation + inTurns.maxTurnTokens;
  return {
    name: 'document-search',
    description: 'Answer a question with words of a passage, or of a second one that the first leads to.',
    vocabulary: inTurns.vocabulary,
    tools: [retrieve],
    maxTokens: room(prompt + Math.max(played, retrieved)),
    maxTurnTokens: inTurns.maxTurnTokens,
    grammar: inTurns.grammar,
    reset: asking(trained),
    // as many of one passage as of two
    demonstration: asking(trained, 0.5),
    splits: {
      heldOut: { reset: asking(heldOut), doc: 'Questions that training never asks.' },
      entities: { reset: asking(unread), doc: 'Each question needs a passage that no question of training does.' },
      shifted: { reset: asking(unread, 0), doc: 'The same, and each question takes two passages.' },
    },
    ...(!chatTokenizer && {
      data: {
        ...{ kind: 'documents', maxTurns, topPassages, payoff },
        passages: documents.corpus.passages.map(({ title, titleWords, textWords }) => ({
          title,
          titleWords,
          textWords,
        })),
        own: [...own],
        spoken,
      },
    }),
    retrieved: begin(
      (draw, { environmentSeed }, settings) =>
        retrieveFirst(task(heldOut, settings.oneHopShare, 1, draw), environmentSeed, settings),
      { maxTurns: 1 },
    ),
    asking: ownQuestions(documents, (question) =>
      begin((draw) => documentTask(question, { ...setting, slots: slotsFor(draw) })),
    ),
  };
}

/** Words of a query or an answer in text, at most: nobody counts them out. */
const TEXT_SPAN = 6;

/** The words of corpus and questions that carry a topic, as they are written there. */
function topicWords({ corpus, questions }: Documents): ReadonlySet<string> {
  const all = [
    ...corpus.passages.flatMap(({ titleWords, textWords }) => [...titleWords, ...textWords]),
    ...questions.flatMap(({ text, answer, queries }) => [text, answer, ...queries].flatMap(wordsOf)),
  ];
  return new Set(all.filter((word) => !FUNCTION_WORDS.has(word.toLowerCase())));
}

/** Questions of a person's own, about the corpus. Of one that is among the known ones the answer is known too. */
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

/** Questions by the number of passages they take. */
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

/** The task with one search for the words of its question made by its environment, by the same tool that may fail. */
function retrieveFirst(task: DocumentTask, environmentSeed: number, { failureRate }: EnvSettings): Task {
  const found = task.lookUp(task.topic, 0, toolRunner(failureRate, random(environmentSeed, Purpose.environment, 0, 1)));
  return {
    ...task,
    prompt: [...task.prompt, '<call>', ...task.topic, '</call>', '<obs>', ...found.observation, '</obs>'],
  };
}
