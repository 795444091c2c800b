import type { ToolEnv } from './env.ts';
import { type DrawGraph, graphSearch, type GraphSearchOptions } from './graphSearch.ts';
import type { Random } from '../base/rng.ts';
import type { Fact, Graph } from './graph.ts';

export interface MultiHopOptions extends GraphSearchOptions {
  readonly entities: number;
  readonly relations: number;
}

/** Multi-hop search: questions about people and their relations, in a new random graph for each task. */
export function multiHop(options: MultiHopOptions): ToolEnv {
  const words = graphWords(options.entities, options.relations);
  const drawTaskGraph: DrawGraph = (hops, draw) => drawGraph(words, hops, draw);
  return graphSearch(
    {
      name: 'multi-hop',
      title: 'Multi-hop search',
      description: 'Answer a question about people by looking up one fact at a time.',
      questionWord: 'Who',
      words,
      train: drawTaskGraph,
      heldOut: null, // drawn like the training tasks; the split is by the task's key
      entities: null,
      shifted: drawTaskGraph,
      maxHops: Infinity,
      formParts: {
        ...words,
        doc: 'Ask about people. Who they are to each other is drawn anew each time you ask.',
        graph: (entity, relations, draw) =>
          withQuestion(
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

// prettier-ignore
const ENTITY_NAMES = [
  'ada', 'ben', 'cleo', 'dan', 'eva', 'finn', 'gus', 'hana', 'ivo', 'june', 'kai', 'lena', 'max', 'nora', 'otto', 'pia',
  'quin', 'rosa', 'sam', 'tess', 'uma', 'vera', 'will', 'xena', 'yuri', 'zoe', 'abel', 'bea', 'carl', 'dora', 'emil', 'fay',
  'gil', 'hugo', 'iris', 'jack', 'kim', 'leo', 'mia', 'nils', 'olga', 'paul', 'rita', 'stan', 'tom', 'ugo', 'vito', 'walt',
] as const;
// prettier-ignore
const RELATION_NAMES = [
  'boss', 'friend', 'teacher', 'neighbor', 'rival', 'guide', 'doctor', 'cousin', 'tutor', 'partner', 'tailor', 'landlord',
] as const;

function graphWords(entities: number, relations: number): Pick<Graph, 'entities' | 'relations'> {
  return { entities: ENTITY_NAMES.slice(0, entities), relations: RELATION_NAMES.slice(0, relations) };
}

/** Draws a uniformly random graph with a question of `hops` relations. */
function drawGraph(names: Pick<Graph, 'entities' | 'relations'>, hops: number, draw: Random): Graph {
  const E = names.entities.length;
  const R = names.relations.length;
  const edges = Array.from({ length: R }, () => Array.from({ length: E }, () => draw.int(E)));
  const first = draw.int(E);
  return withQuestion(
    { ...names, edges },
    first,
    Array.from({ length: hops }, () => draw.int(R)),
  );
}

/** Adds to a graph the question for these relations of an entity, innermost first. */
function withQuestion(
  { entities, relations, edges }: Pick<Graph, 'entities' | 'relations' | 'edges'>,
  start: number,
  askedRelations: readonly number[],
): Graph {
  const gold: Fact[] = [];
  let entity = start;
  for (const relation of askedRelations) {
    const to = edges[relation]?.[entity] ?? 0;
    gold.push({ entity, relation, to });
    entity = to;
  }
  const key = `${askedRelations.join('.')} of ${start}: ${edges.join(';')}`;
  return { entities, relations, edges, gold, key };
}
