import type { Random } from '../rng.ts';
import type { EnvSettings, Reset, ToolEnv } from './env.ts';
import { type Graph, search } from './graph.ts';
import { quest, type Quest, retrieveFirst } from './quest.ts';
import { turnRules } from './turnRules.ts';
import { vocabulary } from './vocab.ts';

/** Knobs that fix the shape of a search over graphs. */
export interface GraphSearchOptions {
  readonly hops: number;
  readonly distractors: number; // unrelated facts in each observation
  readonly maxTurns: number; // the last one can only answer
  readonly think: boolean;
}

/** Draws a graph with a question of `hops` relations. */
export type DrawGraph = (hops: number, draw: Random) => Graph;

/** Where the graphs of each split come from. */
export interface GraphSource extends Omit<Quest, 'distractors'> {
  readonly name: string;
  readonly description: string;
  readonly train: DrawGraph;
  readonly heldOut: DrawGraph | null; // null: the graphs to train on, of other seeds
  readonly entities: DrawGraph | null; // about entities that no graph to train on is about; null: there are none
  readonly shifted: DrawGraph;
  readonly mostHops: number; // chains can be this long
}

/**
 * Search over graphs: "who is r2 of r1 of e?", a tool that looks up one fact, then an answer. Demonstrations mix in
 * questions one hop shorter and longer (.2 / .6 / .2 at two hops), so that the imitated policy has seen them. Out of domain is
 * one hop more than trained on, where turns and graphs allow it. Naive RAG looks up the first hop.
 */
export function graphSearch(source: GraphSource, options: GraphSearchOptions): ToolEnv {
  const { hops, distractors, maxTurns, think } = options;
  const { entities, relations } = source.words;
  const words = vocabulary(['question', '?', ...relations, ...entities]);
  const { grammar, maxTurnTokens, begin } = turnRules({
    vocabulary: words,
    think,
    maxTurns,
    call: { places: [entities, relations] },
    answer: { places: [entities] },
  });
  const asked = { ...source, distractors };
  const asking = (graphs: DrawGraph, hopsOf: (draw: Random, settings: EnvSettings) => number): Reset =>
    begin((draw, _, settings) => quest(graphs(hopsOf(draw, settings), draw), asked, maxTurns));
  const trainedHops = (draw: Random, { oneHopShare }: EnvSettings) => (draw.next() < oneHopShare ? 1 : hops);
  // each hop takes a turn, and so does the answer
  const shiftedHops = Math.min(hops + 1, Math.max(hops, Math.min(maxTurns - 1, source.mostHops)));
  const heldOut = source.heldOut ?? source.train;
  return {
    name: source.name,
    description: source.description,
    vocabulary: words.words,
    tools: [search],
    // a prompt may be one hop longer: demonstrations, and tasks out of the domain
    maxTokens: 4 + (hops + 1) + maxTurns * maxTurnTokens + (maxTurns - 1) * (2 + 3 * (1 + distractors)),
    maxTurnTokens,
    grammar,
    reset: asking(source.train, trainedHops),
    demonstration: asking(source.train, (draw) => {
      const u = draw.next();
      return u < 0.2 ? 1 : u < 0.8 ? hops : Math.min(hops + 1, source.mostHops);
    }),
    splits: {
      ...(source.heldOut && {
        heldOut: { reset: asking(source.heldOut, trainedHops), doc: 'Other questions about the same entities.' },
      }),
      ...(source.entities && {
        entities: {
          reset: asking(source.entities, trainedHops),
          doc: 'Each question is about an entity that none trained on is about.',
        },
      }),
      shifted: {
        reset: asking(source.shifted, () => shiftedHops),
        doc:
          shiftedHops > hops
            ? `Every question takes ${shiftedHops} hops, one more than in training.`
            : source.mostHops > hops
              ? `Every question takes ${hops} hops: ${maxTurns} turns leave no room for more.`
              : `Every question takes ${hops} hops: the facts hold no longer chain.`,
      },
    },
    retrieved: begin((draw, { luck }, settings) => {
      const graph = heldOut(trainedHops(draw, settings), draw);
      return retrieveFirst(quest(graph, asked, 1), luck, settings);
    }, 1),
  };
}
