import type { Random } from '../base/rng.ts';
import type { Fact, Graph } from './graph.ts';

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

/** The words of a graph of E entities and R relations. */
export function graphNames(entities: number, relations: number): Pick<Graph, 'entities' | 'relations'> {
  return { entities: ENTITY_NAMES.slice(0, entities), relations: RELATION_NAMES.slice(0, relations) };
}

/** A uniformly random graph with a question of `hops` relations. */
export function drawGraph(names: Pick<Graph, 'entities' | 'relations'>, hops: number, draw: Random): Graph {
  const E = names.entities.length;
  const R = names.relations.length;
  const edges = Array.from({ length: R }, () => Array.from({ length: E }, () => draw.int(E)));
  const first = draw.int(E);
  return asking(
    { ...names, edges },
    first,
    Array.from({ length: hops }, () => draw.int(R)),
  );
}

/** A graph with the question for these relations of an entity, the innermost first. */
export function asking(
  { entities, relations, edges }: Pick<Graph, 'entities' | 'relations' | 'edges'>,
  start: number,
  asked: readonly number[],
): Graph {
  const gold: Fact[] = [];
  let entity = start;
  for (const relation of asked) {
    const to = edges[relation]?.[entity] ?? 0;
    gold.push({ entity, relation, to });
    entity = to;
  }
  const key = `${asked.join('.')} of ${start}: ${edges.join(';')}`;
  return { entities, relations, edges, gold, key };
}
