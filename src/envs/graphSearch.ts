import type { RunConfig } from '../config/fields.ts';
import { Purpose, random, type Random } from '../base/rng.ts';
import type { Task } from './episodeRules.ts';
import { checkedAnswers } from '../domain/taskForm.ts';
import type { ChatTokenizer } from '../text/chatTokenizer.ts';
import { type TaskForm, type EnvSettings, type Reset, type ToolEnv, NO_REWARD_SETTINGS } from './env.ts';
import { type Graph, search } from './graph.ts';
import { graphTask, type GraphTaskSettings, withFirstFact, withSimilarFacts } from './graphTask.ts';
import type { Side } from './split.ts';
import { type BeginOptions, buildTurns } from './turnRules.ts';
import { buildVocabulary, FAILURE_WORD } from './vocab.ts';
import type { Quote } from '../text/turnFormat.ts';
import { longestOf, type TextFace, type WrongValue } from './textFace.ts';

interface GraphNames {
  readonly questionWord: 'Who' | 'What';
  readonly entities: readonly string[]; // words
  readonly relations: readonly string[];
  readonly nameOf: ReadonlyMap<string, string>;
  readonly maxHops: number; // hops
  readonly facts: number; // in an observation
}

const MAX_NAMES_LISTED = 6;

/** A fact is a sentence, and an entity is written with its name. */
function graphFace({ questionWord, entities, relations, nameOf, maxHops, facts }: GraphNames): TextFace {
  const nameOfWord = (word: string) => nameOf.get(word) ?? word;
  const wordsByText = (words: readonly string[]) =>
    new Map(words.map((word) => [nameOfWord(word).toLowerCase(), word]));
  const [entitiesByName, relationsByName] = [wordsByText(entities), wordsByText(relations)];
  const wordNamed = (
    wordByText: ReadonlyMap<string, string>,
    argument: string,
    text: unknown,
    quote: Quote,
  ): string | WrongValue => {
    const found = wordByText.get(String(text).trim().toLowerCase());
    if (found !== undefined) return found;
    const known = [...wordByText.values()].slice(0, MAX_NAMES_LISTED).map(nameOfWord);
    return {
      wrong: `${quote(String(text))} as ${argument}; want ${known.length < wordByText.size ? 'such as' : 'one of'} ${known.join(', ')}`,
    };
  };
  const fact = (entity: string, relation: string, to: string) => `The ${relation} of ${entity} is ${to}.`;
  const questionText = (relationNames: readonly string[], of: string) =>
    `${questionWord} is ${relationNames.map((relation) => `the ${relation} of`).join(' ')} ${of}?`;
  return {
    system: 'You look up facts, one a call, then answer with a name.',
    tools: [
      {
        name: 'search',
        description: 'Looks up the relation of an entity.',
        parameters: ['entity', 'relation'],
      },
    ],
    // <bos> question r … r e ?
    question: (words) => questionText(words.slice(2, -2).map(nameOfWord), nameOfWord(words.at(-2) ?? '')),
    callWords: (values, quote) => {
      const entityWord = wordNamed(entitiesByName, 'entity', values['entity'], quote);
      const relationWord = wordNamed(relationsByName, 'relation', values['relation'], quote);
      if (typeof entityWord !== 'string') return entityWord;
      return typeof relationWord === 'string' ? [entityWord, relationWord] : relationWord;
    },
    call: ([entityName = '', relationName = '']) => ({
      tool: 'search',
      values: { entity: nameOfWord(entityName), relation: nameOfWord(relationName) },
    }),
    answerWords: (text, quote) => {
      const found = wordNamed(entitiesByName, 'the answer', text.replace(/\.$/, ''), quote);
      return typeof found === 'string' ? [found] : found;
    },
    answerText: (words) => words.map(nameOfWord).join(' '),
    observation: (words) =>
      words.length % 3 === 0
        ? Array.from({ length: words.length / 3 }, (_, i) => {
            const [factEntity = '', factRelation = '', to = ''] = words.slice(3 * i).map(nameOfWord);
            return fact(factEntity, factRelation, to);
          }).join('\n')
        : words.map(nameOfWord).join(' '),
    longestTexts: (countTokens) => {
      const [entity, relation] = [
        longestOf(entities.map(nameOfWord), countTokens),
        longestOf(relations.map(nameOfWord), countTokens),
      ];
      const chain = Array.from({ length: maxHops }, () => relation);
      return {
        questions: [questionText(chain, entity)],
        turns: [{ tool: 'search', values: { entity, relation } }, { answer: entity }],
        observations: [Array.from({ length: facts }, () => fact(entity, relation, entity)).join('\n'), FAILURE_WORD],
      };
    },
  };
}

export interface GraphSearchOptions {
  readonly hops: number;
  readonly distractors: number; // unrelated facts in each observation
  readonly maxTurns: number; // the last one can only answer
  readonly think: boolean;
  readonly chatTokenizer?: ChatTokenizer | null; // if given, the agent plays in text with this tokenizer
  /** First, question: facts are already in the prompt, and the only turn is the answer. */
  readonly retriever: RunConfig['retriever'];
}

/** Share of the demonstrations that need one hop only. */
const ONE_HOP_DEMONSTRATIONS = 0.2;

/** Draws a graph with a question of `hops` relations. */
export type DrawGraph = (hops: number, draw: Random) => Graph;

export interface GraphSource extends Omit<GraphTaskSettings, 'distractors'> {
  readonly name: string;
  readonly description: string;
  readonly train: DrawGraph;
  readonly heldOut: DrawGraph | null; // null: drawn like the training graphs; the split is by the task's key
  /** Questions about entities that no training question is about; null: there are none. */
  readonly entities: DrawGraph | null;
  readonly shifted: DrawGraph;
  readonly maxHops: number; // length of the longest chain
  /** Names of the words in all tasks; without it words are their own names. */
  readonly nameOf?: ReadonlyMap<string, string>;
  readonly formParts: QuestionFormParts;
}

/** The parts of the form in which a person asks a question. */
export interface QuestionFormParts {
  readonly doc: string;
  readonly entities: readonly string[]; // the names that people know
  readonly relations: readonly string[];
  /** Makes a graph with the question for these relations, innermost first. Throws ProblemError if the graph lacks a fact for it. */
  readonly graph: (entity: string, relations: readonly string[], draw: Random) => Graph;
  /** Returns an entity, then `hops` relations for which there are facts. */
  readonly example: (hops: number) => readonly string[];
}

/**
 * Search over graphs: "who is r2 of r1 of e?", a tool that looks up one fact, then an answer. A fifth of the
 * demonstrations need one hop, and none needs more than training questions do. Shifted tasks have one hop more, if
 * turns and graphs allow it. Naive RAG looks up the first hop.
 */
export function graphSearch(source: GraphSource, options: GraphSearchOptions): ToolEnv {
  const { hops, distractors, maxTurns, think, retriever, chatTokenizer } = options;
  const { entities, relations } = source.words;
  const vocabulary = buildVocabulary(['question', '?', ...relations, ...entities]);
  const names = {
    ...source.words,
    questionWord: source.questionWord,
    nameOf: source.nameOf ?? new Map<string, string>(),
  };
  const face = graphFace({ ...names, maxHops: hops + 1, facts: 1 + distractors });
  const { makeReset, episodeTokens, ...rules } = buildTurns({
    vocabulary,
    think,
    maxTurns,
    call: { legalWords: [entities, relations] },
    answer: { legalWords: [entities] },
    text: chatTokenizer ? { chatTokenizer, face } : null,
  });
  const taskSettings = { ...source, distractors };
  // if each split has its own graphs, they are on the right side already
  const splitOptions = (side: Side): BeginOptions => (source.heldOut ? {} : { side });
  const withRetrieved = (task: Task, graph: Graph, environmentSeed: number, settings: EnvSettings): Task => {
    if (retriever === 'agent') return task;
    return retriever === 'first'
      ? withFirstFact(task, environmentSeed, settings)
      : withSimilarFacts(task, graph, Math.max(1, maxTurns - 1), random(environmentSeed, Purpose.environment, 0, 1));
  };
  const turnLimit = retriever === 'agent' ? maxTurns : 1;
  const questionTasks = (
    side: Side,
    drawGraph: DrawGraph,
    hopsOf: (draw: Random, settings: EnvSettings) => number,
  ): Reset =>
    makeReset(
      (draw, { environmentSeed }, settings) => {
        const graph = drawGraph(hopsOf(draw, settings), draw);
        return withRetrieved(graphTask(graph, taskSettings, turnLimit), graph, environmentSeed, settings);
      },
      { ...splitOptions(side), maxTurns: turnLimit },
    );
  const drawTrainingHops = (draw: Random, { oneHopShare }: EnvSettings) => (draw.next() < oneHopShare ? 1 : hops);
  // each hop needs a turn, and so does the answer
  const shiftedHops = Math.min(hops + 1, Math.max(hops, Math.min(maxTurns - 1, source.maxHops)));
  const heldOut = source.heldOut ?? source.train;
  const resetFor = (entity: string, askedRelations: readonly string[]): Reset =>
    makeReset(
      (draw, { environmentSeed }, settings) => {
        const graph = source.formParts.graph(entity, askedRelations, draw);
        return withRetrieved(graphTask(graph, taskSettings, turnLimit), graph, environmentSeed, settings);
      },
      { maxTurns: turnLimit },
    );
  return {
    name: source.name,
    description: source.description,
    vocabulary: rules.vocabulary,
    tools: [search],
    // questions of shifted tasks may have one hop more
    maxTokens: episodeTokens(
      4 + (hops + 1) + maxTurns * rules.maxTurnTokens + (maxTurns - 1) * (2 + 3 * (1 + distractors)),
    ),
    maxTurnTokens: rules.maxTurnTokens,
    grammar: rules.grammar,
    reset: questionTasks('train', source.train, drawTrainingHops),
    demonstration: questionTasks('train', source.train, (draw) => (draw.next() < ONE_HOP_DEMONSTRATIONS ? 1 : hops)),
    splits: {
      heldOut: {
        reset: questionTasks('held-out', heldOut, drawTrainingHops),
        doc: source.heldOut
          ? 'Other questions about the same entities.'
          : 'Graphs and questions that training never has.',
      },
      ...(source.entities && {
        entities: {
          reset: questionTasks('held-out', source.entities, drawTrainingHops),
          doc: 'Each question is about an entity that none trained on is about.',
        },
      }),
      shifted: {
        reset: questionTasks('held-out', source.shifted, () => shiftedHops),
        doc:
          shiftedHops > hops
            ? `Every question takes ${shiftedHops} hops, one more than in training.`
            : source.maxHops > hops
              ? `Every question takes ${hops} hops: ${maxTurns} turns leave no room for more.`
              : `Every question takes ${hops} hops: the facts hold no longer chain.`,
      },
    },
    ruleDoc: 'Look up the relation next to the entity, and answer with what was found.',
    naiveRag: makeReset(
      (draw, { environmentSeed }, settings) => {
        const graph = heldOut(drawTrainingHops(draw, settings), draw);
        return withFirstFact(graphTask(graph, taskSettings, 1), environmentSeed, settings);
      },
      { ...splitOptions('held-out'), maxTurns: 1 },
    ),
    taskForm: questionForm(source, hops, shiftedHops, resetFor),
  };
}

/** Makes the form for questions of one relation up to as many as in shifted tasks. */
function questionForm(
  { formParts, questionWord }: GraphSource,
  hops: number,
  maxRelations: number,
  makeReset: (entity: string, relations: readonly string[]) => Reset,
): TaskForm {
  const relation = (hop: number) => ({
    label: hop === 0 ? `${questionWord} is the` : 'of the',
    words: formParts.relations,
    optional: hop > 0,
  });
  const form = {
    doc: formParts.doc,
    blanks: [
      ...Array.from({ length: maxRelations }, (_, hop) => relation(hop)),
      { label: 'of', words: formParts.entities, optional: false },
    ],
    example: exampleOf(formParts.example(hops), maxRelations),
  };
  return {
    ...form,
    makeTask: (words) => {
      const read = checkedAnswers(form, words);
      const [entity = '', ...askedRelations] = read.filter((word) => word !== '').toReversed();
      const reset = makeReset(entity, askedRelations);
      reset(0, NO_REWARD_SETTINGS); // throws now if the question cannot be asked, which does not depend on the seed
      return { reset, answerKnown: true };
    },
  };
}

/** Returns an example in the order of the blanks: the outermost relation first, then empty blanks, then the entity. */
function exampleOf([entity = '', ...relations]: readonly string[], maxRelations: number): readonly string[] {
  const open = Array.from({ length: maxRelations - relations.length }, () => '');
  return [...relations.toReversed(), ...open, entity];
}
