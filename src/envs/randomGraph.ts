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
  const gold: Fact[] = [];
  let entity = draw.int(E);
  for (let hop = 0; hop < hops; hop++) {
    const relation = draw.int(R);
    const to = edges[relation]?.[entity] ?? 0;
    gold.push({ entity, relation, to });
    entity = to;
  }
  const key = `${gold.map((fact) => fact.relation).join('.')} of ${gold[0]?.entity ?? 0}: ${edges.join(';')}`;
  return { ...names, edges, gold, key };
}
