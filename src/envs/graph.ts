import type { Tool } from './env.ts';
import { FAILURE_WORD } from './vocab.ts';

/** One fact: `to` is the `relation` of `entity`. */
export interface Fact {
  readonly entity: number;
  readonly relation: number;
  readonly to: number;
}

/** A graph f: E × R → E that holds for one task, and a question over it. */
export interface Graph {
  readonly entities: readonly string[]; // words
  readonly relations: readonly string[]; // words
  readonly edges: readonly (readonly (number | null)[])[]; // [relation][entity] → entity; null: there is no such fact
  readonly gold: readonly Fact[]; // the hops from the question's entity to its answer
  readonly key: string; // what makes two of them the same question over the same facts
  readonly names?: ReadonlyMap<string, string>; // what words stand for; without it they are themselves
}

/** f(entity, relation); null where the graph says nothing, and for what is not in it (−1). */
export function follow({ edges }: Pick<Graph, 'edges'>, entity: number, relation: number): number | null {
  return edges[relation]?.[entity] ?? null;
}

/** Looks one fact up, and brings unrelated ones with it, in random order. What is not known is `none`. */
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
    const asked = fact(entities.indexOf(entityName), relations.indexOf(relationName));
    if (!asked) return { ok: false, content: [FAILURE_WORD] };
    const other = (): readonly string[] => {
      for (;;) {
        const found = fact(draw.int(entities.length), draw.int(relations.length));
        if (found) return found;
      }
    };
    const facts = distractors > 0 ? draw.shuffle([asked, ...Array.from({ length: distractors }, other)]) : [asked];
    return { ok: true, content: facts.flat() };
  },
};
