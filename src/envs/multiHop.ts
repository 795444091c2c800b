import type { ToolEnv } from './env.ts';
import { type DrawGraph, graphSearch, type GraphSearchOptions } from './graphSearch.ts';
import { asking, drawGraph, graphNames } from './randomGraph.ts';

/** Knobs that fix the shape of the environment. */
export interface MultiHopOptions extends GraphSearchOptions {
  readonly entities: number;
  readonly relations: number;
}

/** Multi-hop search: people and what they are to each other, in a new random graph for each task. */
export function multiHop(options: MultiHopOptions): ToolEnv {
  const words = graphNames(options.entities, options.relations);
  const anew: DrawGraph = (hops, draw) => drawGraph(words, hops, draw);
  return graphSearch(
    {
      name: 'multi-hop',
      title: 'Multi-hop search',
      description: 'Answer a question about people by looking up one fact at a time.',
      asks: 'Who',
      words,
      train: anew,
      heldOut: null, // no pool to choose from: told apart by what they are
      entities: null,
      shifted: anew,
      mostHops: Infinity,
      own: {
        ...words,
        doc: 'Ask about people. Who they are to each other is drawn anew each time you ask.',
        graph: (entity, relations, draw) =>
          asking(
            drawGraph(words, 1, draw),
            words.entities.indexOf(entity),
            relations.map((name) => words.relations.indexOf(name)),
          ),
        example: (hops) => [words.entities[0] ?? '', ...words.relations.slice(0, hops)],
      },
    },
    options,
  );
}
