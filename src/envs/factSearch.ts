import type { RunConfig } from '../config/fields.ts';
import { ConfigError } from '../config/configProblem.ts';
import type { Facts } from '../facts/facts.ts';
import type { Random } from '../base/rng.ts';
import { ProblemError } from '../base/problem.ts';
import type { ToolEnv } from './env.ts';
import {
  factWorld,
  type FactWorld,
  neighbourhood,
  type Path,
  type Questions,
  questions,
  setAside,
} from './factWorld.ts';
import type { Graph } from './graph.ts';
import { type DrawGraph, graphSearch, type GraphSearchOptions, type GraphSource } from './graphSearch.ts';

/** Knobs that fix the shape of the environment. */
export interface FactSearchOptions extends GraphSearchOptions {
  readonly entities: number; // in the part of the world an episode sees
  readonly relations: number;
  readonly names: RunConfig['names'];
}

/** Questions over real facts about real countries, in public/worlds/. */
export function worldFacts(options: FactSearchOptions, facts: Facts | null): ToolEnv {
  return factSearch('world-facts', 'World facts', options, facts);
}

/** Questions over facts that a person brings. Throws ConfigError if there are none, or too few for two questions. */
export function yourFacts(options: FactSearchOptions, facts: Facts | null): ToolEnv {
  return factSearch('your-facts', 'Your facts', options, facts);
}

/**
 * Multi-hop search over given facts. An episode sees a small part of them around the path to its answer. With `slots` each of
 * its entities and relations gets a random slot word for the episode; with `own` each has a word of its own for good, which a
 * policy can come to know by heart, and does not know where the entity was never trained on.
 */
function factSearch(name: string, title: string, options: FactSearchOptions, facts: Facts | null): ToolEnv {
  if (!facts) {
    throw new ConfigError([
      {
        ...{ place: 'env', what: `${name} asks about facts, and there are none.` },
        remedy:
          'Give a CSV file of subject, relation, object: under Task in the page, with --facts on the command line.',
      },
    ]);
  }
  const world = factWorld(facts);
  const pools = questionPools(world, options.hops);
  const words = {
    entities: slotWords('e', options.names === 'own' ? world.entities.length : options.entities),
    relations: slotWords('r', options.names === 'own' ? world.relations.length : options.relations),
  };
  const from =
    (split: keyof Questions): DrawGraph =>
    (hops, draw) => {
      const pool = pools(hops)[split];
      // where there is no question that short or long, one of the length to train on
      return bind(world, draw.pick(pool.length > 0 ? pool : pools(options.hops)[split]), options, words, draw);
    };
  const asked = pools(options.hops);
  const longer = pools(options.hops + 1);
  const source: GraphSource = {
    name,
    title,
    description: 'Answer a question by looking up one fact at a time.',
    asks: 'What',
    words,
    train: from('train'),
    heldOut: from('heldOut'),
    entities: asked.entities.length > 0 ? from('entities') : null,
    shifted: from('heldOut'),
    ...(options.names === 'own' && { nameOf: namesOf(words, world) }),
    mostHops: longer.heldOut.length > 0 ? options.hops + 1 : options.hops,
    own: {
      doc: 'Ask about what the facts say, by the names they have there. Those of other tasks may be asked too, held-out ones included.',
      entities: world.entities.filter((_, entity) => (world.factsOf[entity] ?? []).length > 0),
      relations: world.relations,
      graph: (entity, relations, draw) => bind(world, pathOf(world, entity, relations), options, words, draw),
      example: () => {
        const path = asked.train[0] ?? [];
        return [
          world.entities[path[0]?.entity ?? 0] ?? '',
          ...path.map(({ relation }) => world.relations[relation] ?? ''),
        ];
      },
    },
  };
  return graphSearch(source, options);
}

const MOST_NAMED = 6;

/** The facts that lead along these relations. Throws ProblemError, with what there is instead, where one is missing. */
function pathOf(world: FactWorld, start: string, asked: readonly string[]): Path {
  const path: Path[number][] = [];
  let entity = world.entities.indexOf(start);
  for (const name of asked) {
    const known = world.factsOf[entity] ?? [];
    const fact = known.find(({ relation }) => world.relations[relation] === name);
    if (!fact) {
      const instead = [...new Set(known.map(({ relation }) => world.relations[relation] ?? ''))].slice(0, MOST_NAMED);
      const about =
        instead.length > 0 ? `want one of ${instead.join(', ')}` : 'they say nothing of it at all: ask about less';
      throw new ProblemError(`The facts do not say the ${name} of ${world.entities[entity] ?? start}; ${about}.`);
    }
    path.push(fact);
    entity = fact.to;
  }
  return path;
}

function namesOf(
  words: { readonly entities: readonly string[]; readonly relations: readonly string[] },
  world: FactWorld,
): ReadonlyMap<string, string> {
  return new Map([
    ...words.entities.map((word, i) => [word, world.entities[i] ?? ''] as const),
    ...words.relations.map((word, i) => [word, world.relations[i] ?? ''] as const),
  ]);
}

function slotWords(letter: string, count: number): readonly string[] {
  return Array.from({ length: count }, (_, i) => `${letter}${i}`);
}

/** The questions of each length, made at the first use. Throws ConfigError if no questions of `hops` can be trained on, or none can be held out. */
function questionPools(world: FactWorld, hops: number): (length: number) => Questions {
  const aside = setAside(world);
  const pools = new Map<number, Questions>();
  const of = (length: number) => {
    const pool = pools.get(length) ?? questions(world, aside, length);
    pools.set(length, pool);
    return pool;
  };
  if (of(hops).train.length === 0 || of(hops).heldOut.length === 0) {
    const chains =
      of(hops).train.length === 0 ? `no chain of ${hops} to train on` : `one chain of ${hops}: none to evaluate`;
    throw new ConfigError([
      {
        ...{ place: 'hops', what: `${hops}, but these ${world.factsOf.flat().length} facts hold ${chains}.` },
        remedy: 'Add facts whose subject is another fact’s object, or ask for fewer hops.',
      },
    ]);
  }
  return of;
}

/** A part of the world around a path, in words: random ones for this episode, or each its own. */
function bind(
  world: FactWorld,
  path: Path,
  most: FactSearchOptions,
  words: { readonly entities: readonly string[]; readonly relations: readonly string[] },
  draw: Random,
): Graph {
  const part = neighbourhood(world, path, most, draw);
  const wordsFor = (numbers: readonly number[], all: readonly string[]): readonly string[] =>
    most.names === 'own' ? numbers.map((n) => all[n] ?? '') : draw.shuffle([...all]).slice(0, numbers.length);
  const entities = wordsFor(part.entities, words.entities);
  const relations = wordsFor(part.relations, words.relations);
  const edges = part.relations.map((relation) =>
    part.entities.map((entity) => {
      const to = world.factsOf[entity]?.find((fact) => fact.relation === relation)?.to ?? -1;
      const at = part.entities.indexOf(to);
      return at < 0 ? null : at;
    }),
  );
  return {
    entities,
    relations,
    edges,
    gold: path.map(({ entity, relation, to }) => ({
      entity: part.entities.indexOf(entity),
      relation: part.relations.indexOf(relation),
      to: part.entities.indexOf(to),
    })),
    // the facts around the path and the words for them are how it is put, not what is asked
    key: [path[0]?.entity ?? 0, ...path.map(({ relation }) => relation)].join('.'),
    names: new Map([
      ...entities.map((word, i) => [word, world.entities[part.entities[i] ?? 0] ?? ''] as const),
      ...relations.map((word, i) => [word, world.relations[part.relations[i] ?? 0] ?? ''] as const),
    ]),
  };
}
