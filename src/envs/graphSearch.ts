import type { RunConfig } from '../config/fields.ts';
import { Purpose, random, type Random } from '../base/rng.ts';
import type { Task } from './episodeRules.ts';
import { checkedAnswers } from './taskFormAnswers.ts';
import { graphFace } from './graphFace.ts';
import type { ChatTokenizer } from '../text/chatTokenizer.ts';
import { type Asking, type EnvSettings, type Reset, type ToolEnv, UNPAID } from './env.ts';
import { type Graph, search } from './graph.ts';
import { quest, type Quest, retrieveFirst, retrieveLike } from './quest.ts';
import type { Side } from './split.ts';
import { type Beginning, turnRules } from './turnRules.ts';
import { vocabulary } from './vocab.ts';

/** Knobs that fix the shape of a search over graphs. */
export interface GraphSearchOptions {
  readonly hops: number;
  readonly distractors: number; // unrelated facts in each observation
  readonly maxTurns: number; // the last one can only answer
  readonly think: boolean;
  readonly chatTokenizer?: ChatTokenizer | null; // it is played in text
  readonly retriever: RunConfig['retriever']; // first, question: facts stand in the prompt and the one turn is an answer
}

/** Share of the demonstrations that take one hop only. */
const ONE_HOP_DEMONSTRATIONS = 0.2;

/** Draws a graph with a question of `hops` relations. */
export type DrawGraph = (hops: number, draw: Random) => Graph;

/** Where the graphs of each split come from. */
export interface GraphSource extends Omit<Quest, 'distractors'> {
  readonly name: string;
  readonly description: string;
  readonly train: DrawGraph;
  readonly heldOut: DrawGraph | null; // null: drawn as those to train on, and told apart by what they are
  readonly entities: DrawGraph | null; // about entities that no graph to train on is about; null: there are none
  readonly shifted: DrawGraph;
  readonly mostHops: number; // chains can be this long
  readonly nameOf?: ReadonlyMap<string, string>; // what each word stands for in every task; without it words are themselves
  readonly own: OwnQuestions;
}

/** Questions in a person's words. */
export interface OwnQuestions {
  readonly doc: string;
  readonly entities: readonly string[]; // as people know them
  readonly relations: readonly string[];
  /** A graph with the question for these relations of an entity, the innermost first. Throws ProblemError where it says nothing of that. */
  readonly graph: (entity: string, relations: readonly string[], draw: Random) => Graph;
  readonly example: (hops: number) => readonly string[]; // an entity, then so many relations of which the graph says something
}

/**
 * Search over graphs: "who is r2 of r1 of e?", a tool that looks up one fact, then an answer. A fifth of the demonstrations take
 * one hop; none takes more than are trained on. Out of domain is one hop more, where turns and graphs allow it. Naive RAG looks
 * up the first hop.
 */
export function graphSearch(source: GraphSource, options: GraphSearchOptions): ToolEnv {
  const { hops, distractors, maxTurns, think, retriever, chatTokenizer } = options;
  const { entities, relations } = source.words;
  const words = vocabulary(['question', '?', ...relations, ...entities]);
  const names = { ...source.words, asks: source.asks, nameOf: source.nameOf ?? new Map<string, string>() };
  const face = graphFace({ ...names, longestChain: hops + 1, facts: 1 + distractors });
  const { begin, room, ...inTurns } = turnRules({
    vocabulary: words,
    think,
    maxTurns,
    call: { places: [entities, relations] },
    answer: { places: [entities] },
    text: chatTokenizer ? { chatTokenizer, face } : null,
  });
  const asked = { ...source, distractors };
  // where each split has graphs of its own, they are on their side already
  const sided = (side: Side): Beginning => (source.heldOut ? {} : { side });
  const prepared = (task: Task, graph: Graph, environmentSeed: number, settings: EnvSettings): Task => {
    if (retriever === 'agent') return task;
    return retriever === 'first'
      ? retrieveFirst(task, environmentSeed, settings)
      : retrieveLike(task, graph, Math.max(1, maxTurns - 1), random(environmentSeed, Purpose.environment, 0, 1));
  };
  const turns = retriever === 'agent' ? maxTurns : 1;
  const asking = (side: Side, graphs: DrawGraph, hopsOf: (draw: Random, settings: EnvSettings) => number): Reset =>
    begin(
      (draw, { environmentSeed }, settings) => {
        const graph = graphs(hopsOf(draw, settings), draw);
        return prepared(quest(graph, asked, turns), graph, environmentSeed, settings);
      },
      { ...sided(side), maxTurns: turns },
    );
  const trainedHops = (draw: Random, { oneHopShare }: EnvSettings) => (draw.next() < oneHopShare ? 1 : hops);
  // each hop takes a turn, and so does the answer
  const shiftedHops = Math.min(hops + 1, Math.max(hops, Math.min(maxTurns - 1, source.mostHops)));
  const heldOut = source.heldOut ?? source.train;
  const own = (entity: string, asks: readonly string[]): Reset =>
    begin(
      (draw, { environmentSeed }, settings) => {
        const graph = source.own.graph(entity, asks, draw);
        return prepared(quest(graph, asked, turns), graph, environmentSeed, settings);
      },
      { maxTurns: turns },
    );
  return {
    name: source.name,
    description: source.description,
    vocabulary: inTurns.vocabulary,
    tools: [search],
    // a prompt may be one hop longer: tasks out of the domain
    maxTokens: room(4 + (hops + 1) + maxTurns * inTurns.maxTurnTokens + (maxTurns - 1) * (2 + 3 * (1 + distractors))),
    maxTurnTokens: inTurns.maxTurnTokens,
    grammar: inTurns.grammar,
    reset: asking('train', source.train, trainedHops),
    demonstration: asking('train', source.train, (draw) => (draw.next() < ONE_HOP_DEMONSTRATIONS ? 1 : hops)),
    splits: {
      heldOut: {
        reset: asking('held-out', heldOut, trainedHops),
        doc: source.heldOut
          ? 'Other questions about the same entities.'
          : 'Graphs and questions that training never has.',
      },
      ...(source.entities && {
        entities: {
          reset: asking('held-out', source.entities, trainedHops),
          doc: 'Each question is about an entity that none trained on is about.',
        },
      }),
      shifted: {
        reset: asking('held-out', source.shifted, () => shiftedHops),
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
        return retrieveFirst(quest(graph, asked, 1), environmentSeed, settings);
      },
      { ...sided('held-out'), maxTurns: 1 },
    ),
    asking: ownQuestions(source, hops, shiftedHops, own),
  };
}

/** Questions of one relation up to as many as tasks out of the domain have. */
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
      begin(0, UNPAID); // says now what cannot be asked, whatever seed it begins with
      return { begin, judged: true };
    },
  };
}

/** As the blanks have it: the outermost relation first, those left open between the last of them and the entity. */
function exampleOf([entity = '', ...relations]: readonly string[], most: number): readonly string[] {
  const open = Array.from({ length: most - relations.length }, () => '');
  return [...relations.toReversed(), ...open, entity];
}
