import type { Tool } from './env.ts';
import { FAILURE_WORD } from './vocab.ts';

/** One fact: `to` is the `relation` of `entity`. */
export interface Fact {
  readonly entity: number;
  readonly relation: number;
  readonly to: number;
}

export interface Graph {
  readonly entities: readonly string[]; // words
  readonly relations: readonly string[]; // words
  readonly edges: readonly (readonly (number | null)[])[]; // [relation][entity] → entity; null: there is no such fact
  readonly gold: readonly Fact[]; // the hops from the question's entity to its answer
  readonly key: string; // the same for equal questions over equal facts
  readonly names?: ReadonlyMap<string, string>; // names that words stand for; without it words are their own names
}

/** Returns f(entity, relation), or null if the graph has no such fact or either number is −1. */
export function follow({ edges }: Pick<Graph, 'edges'>, entity: number, relation: number): number | null {
  return edges[relation]?.[entity] ?? null;
}

/** Looks up one fact. Returns it among unrelated facts, in random order, or `none` if there is no such fact. */
export const search: Tool<{ readonly graph: Graph; readonly distractors: number }> = {
  name: 'search',
  description: 'Looks up the relation of an entity.',
  parameters: ['entity', 'relation'],
  execute([entityName = '', relationName = ''], { graph, distractors }, draw) {
    const { entities, relations } = graph;
    const fact = (entity: number, relation: number): readonly string[] | null => {
      const to = follow(graph, entity, relation);
      return to === null ? null : [entities[entity] ?? '', relations[relation] ?? '', entities[to] ?? ''];
    };
    const askedFact = fact(entities.indexOf(entityName), relations.indexOf(relationName));
    if (!askedFact) return { ok: false, content: [FAILURE_WORD] };
    const randomFact = (): readonly string[] => {
      for (;;) {
        const found = fact(draw.int(entities.length), draw.int(relations.length));
        if (found) return found;
      }
    };
    const facts =
      distractors > 0 ? draw.shuffle([askedFact, ...Array.from({ length: distractors }, randomFact)]) : [askedFact];
    return { ok: true, content: facts.flat() };
  },
};
