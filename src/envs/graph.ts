import type { Random } from '../rng.ts';
import type { Tool } from './env.ts';

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

/** One fact: `to` is the `relation` of `entity`. */
export interface Fact {
  readonly entity: number;
  readonly relation: number;
  readonly to: number;
}

/** A graph f: E × R → E drawn anew for each task, and a question over it. */
export interface Graph {
  readonly entities: readonly string[];
  readonly relations: readonly string[];
  readonly edges: readonly (readonly number[])[]; // [relation][entity] → entity
  readonly gold: readonly Fact[]; // the hops from the question's entity to its answer
}

/** The words of a graph of E entities and R relations. */
export function graphNames(entities: number, relations: number): Pick<Graph, 'entities' | 'relations'> {
  return { entities: ENTITY_NAMES.slice(0, entities), relations: RELATION_NAMES.slice(0, relations) };
}

/** A uniformly random graph with a question of `hops` relations. */
export function drawGraph(names: Pick<Graph, 'entities' | 'relations'>, hops: number, draw: Random): Graph {
  const E = names.entities.length;
  const R = names.relations.length;
  const edges = Array.from({ length: R }, () => Array.from({ length: E }, () => draw.int(E)));
  const gold: Fact[] = [];
  let entity = draw.int(E);
  for (let hop = 0; hop < hops; hop++) {
    const relation = draw.int(R);
    const to = follow(edges, entity, relation);
    gold.push({ entity, relation, to });
    entity = to;
  }
  return { ...names, edges, gold };
}

/** f(entity, relation). */
export function follow(edges: Graph['edges'], entity: number, relation: number): number {
  const to = edges[relation]?.[entity];
  if (to === undefined) {
    throw new RangeError(`follow: got entity ${entity}, relation ${relation}; want ids inside the graph.`);
  }
  return to;
}

/** Looks one fact up, and brings unrelated ones with it, in random order. */
export const search: Tool<{ readonly graph: Graph; readonly distractors: number }> = {
  name: 'search',
  description: 'Looks up who is the relation of an entity.',
  parameters: ['entity', 'relation'],
  execute([entityName = '', relationName = ''], { graph, distractors }, draw) {
    const { entities, relations, edges } = graph;
    const fact = (entity: number, relation: number) => [
      entities[entity] ?? '',
      relations[relation] ?? '',
      entities[follow(edges, entity, relation)] ?? '',
    ];
    const asked = fact(entities.indexOf(entityName), relations.indexOf(relationName));
    const others = Array.from({ length: distractors }, () =>
      fact(draw.int(entities.length), draw.int(relations.length)),
    );
    const facts = distractors > 0 ? draw.shuffle([asked, ...others]) : [asked];
    return { ok: true, content: facts.flat() };
  },
};
