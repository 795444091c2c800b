import type { RunConfig } from '../config/fields.ts';
import { Purpose, random, type Random } from '../base/rng.ts';
import type { Task } from './episodeRules.ts';
import { checkedAnswers } from './taskFormAnswers.ts';
import { graphFace } from './graphFace.ts';
import type { ChatTokenizer } from '../text/chatTokenizer.ts';
import { type Asking, type EnvSettings, type Reset, type ToolEnv, NO_REWARD_SETTINGS } from './env.ts';
import { type Graph, search } from './graph.ts';
import { quest, type QuestSettings, retrieveFirst, retrieveSimilar } from './quest.ts';
import type { Side } from './split.ts';
import { type BeginOptions, turnRules } from './turnRules.ts';
import { vocabulary } from './vocab.ts';

/** Knobs that fix the shape of a search over graphs. */
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

/** The graphs of each split, and the words of a graph search. */
export interface GraphSource extends Omit<QuestSettings, 'distractors'> {
  readonly name: string;
  readonly description: string;
  readonly train: DrawGraph;
  readonly heldOut: DrawGraph | null; // null: drawn like the training graphs; the split is by the task's key
  /** Questions about entities that no training question is about; null: there are none. */
  readonly entities: DrawGraph | null;
  readonly shifted: DrawGraph;
  readonly mostHops: number; // length of the longest chain
  /** Names of the words in all tasks; without it words are their own names. */
  readonly nameOf?: ReadonlyMap<string, string>;
  readonly own: OwnQuestions;
}

/** The parts of the form in which a person asks a question. */
export interface OwnQuestions {
  readonly doc: string;
  readonly entities: readonly string[]; // the names that people know
  readonly relations: readonly string[];
  /**
   * Makes a graph with the question for these relations of an entity, innermost first. Throws ProblemError if the graph
   * lacks a fact for it.
   */
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
  const words = vocabulary(['question', '?', ...relations, ...entities]);
  const names = { ...source.words, asks: source.asks, nameOf: source.nameOf ?? new Map<string, string>() };
  const face = graphFace({ ...names, longestChain: hops + 1, facts: 1 + distractors });
  const { begin, episodeTokens, ...rules } = turnRules({
    vocabulary: words,
    think,
    maxTurns,
    call: { places: [entities, relations] },
    answer: { places: [entities] },
    text: chatTokenizer ? { chatTokenizer, face } : null,
  });
  const questSettings = { ...source, distractors };
  // if each split has its own graphs, they are on the right side already
  const splitOptions = (side: Side): BeginOptions => (source.heldOut ? {} : { side });
  const withRetrieved = (task: Task, graph: Graph, environmentSeed: number, settings: EnvSettings): Task => {
    if (retriever === 'agent') return task;
    return retriever === 'first'
      ? retrieveFirst(task, environmentSeed, settings)
      : retrieveSimilar(task, graph, Math.max(1, maxTurns - 1), random(environmentSeed, Purpose.environment, 0, 1));
  };
  const turns = retriever === 'agent' ? maxTurns : 1;
  const questionTasks = (
    side: Side,
    graphs: DrawGraph,
    hopsOf: (draw: Random, settings: EnvSettings) => number,
  ): Reset =>
    begin(
      (draw, { environmentSeed }, settings) => {
        const graph = graphs(hopsOf(draw, settings), draw);
        return withRetrieved(quest(graph, questSettings, turns), graph, environmentSeed, settings);
      },
      { ...splitOptions(side), maxTurns: turns },
    );
  const trainedHops = (draw: Random, { oneHopShare }: EnvSettings) => (draw.next() < oneHopShare ? 1 : hops);
  // each hop needs a turn, and so does the answer
  const shiftedHops = Math.min(hops + 1, Math.max(hops, Math.min(maxTurns - 1, source.mostHops)));
  const heldOut = source.heldOut ?? source.train;
  const own = (entity: string, asks: readonly string[]): Reset =>
    begin(
      (draw, { environmentSeed }, settings) => {
        const graph = source.own.graph(entity, asks, draw);
        return withRetrieved(quest(graph, questSettings, turns), graph, environmentSeed, settings);
      },
      { maxTurns: turns },
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
    reset: questionTasks('train', source.train, trainedHops),
    demonstration: questionTasks('train', source.train, (draw) => (draw.next() < ONE_HOP_DEMONSTRATIONS ? 1 : hops)),
    splits: {
      heldOut: {
        reset: questionTasks('held-out', heldOut, trainedHops),
        doc: source.heldOut
          ? 'Other questions about the same entities.'
          : 'Graphs and questions that training never has.',
      },
      ...(source.entities && {
        entities: {
          reset: questionTasks('held-out', source.entities, trainedHops),
          doc: 'Each question is about an entity that none trained on is about.',
        },
      }),
      shifted: {
        reset: questionTasks('held-out', source.shifted, () => shiftedHops),
        doc:
          shiftedHops > hops
            ? `Every question takes ${shiftedHops} hops, one more than in training.`
            : source.mostHops > hops
              ? `Every question takes ${hops} hops: ${maxTurns} turns leave no room for more.`
              : `Every question takes ${hops} hops: the facts hold no longer chain.`,
      },
    },
    ...(!chatTokenizer && { data: { kind: 'graph', maxTurns: turns, entities, relations, distractors } }),
    rule: 'Look up the relation next to the entity, and answer with what was found.',
    retrieved: begin(
      (draw, { environmentSeed }, settings) => {
        const graph = heldOut(trainedHops(draw, settings), draw);
        return retrieveFirst(quest(graph, questSettings, 1), environmentSeed, settings);
      },
      { ...splitOptions('held-out'), maxTurns: 1 },
    ),
    asking: ownQuestions(source, hops, shiftedHops, own),
  };
}

/** Makes the form for questions of one relation up to as many as in shifted tasks. */
function ownQuestions(
  { own, asks }: GraphSource,
  hops: number,
  most: number,
  asking: (entity: string, relations: readonly string[]) => Reset,
): Asking {
  const relation = (hop: number) => ({
    label: hop === 0 ? `${asks} is the` : 'of the',
    words: own.relations,
    optional: hop > 0,
  });
  const form = {
    doc: own.doc,
    blanks: [
      ...Array.from({ length: most }, (_, hop) => relation(hop)),
      { label: 'of', words: own.entities, optional: false },
    ],
    example: exampleOf(own.example(hops), most),
  };
  return {
    ...form,
    ask: (words) => {
      const read = checkedAnswers(form, words);
      const [entity = '', ...asked] = read.filter((word) => word !== '').toReversed();
      const begin = asking(entity, asked);
      begin(0, NO_REWARD_SETTINGS); // throws now if the question cannot be asked, which does not depend on the seed
      return { begin, judged: true };
    },
  };
}

/** Returns an example in the order of the blanks: the outermost relation first, then empty blanks, then the entity. */
function exampleOf([entity = '', ...relations]: readonly string[], most: number): readonly string[] {
  const open = Array.from({ length: most - relations.length }, () => '');
  return [...relations.toReversed(), ...open, entity];
}
