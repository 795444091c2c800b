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
  readonly entities: number; // entities in the part of the world that an episode sees
  readonly relations: number;
  readonly names: RunConfig['names'];
}

/** Questions about real countries, from the facts in public/worlds/. */
export function worldFacts(options: FactSearchOptions, facts: Facts | null): ToolEnv {
  return factSearch('world-facts', 'World facts', options, facts);
}

/** Questions about facts that a person provides. Throws ConfigError if there are none, or too few for two questions. */
export function yourFacts(options: FactSearchOptions, facts: Facts | null): ToolEnv {
  return factSearch('your-facts', 'Your facts', options, facts);
}

/**
 * Multi-hop search over given facts. An episode sees a small part of them around the path to its answer. With `slots`,
 * each entity and relation of this part gets a random slot word for the episode. With `own`, each has its own word in
 * all episodes. A policy can then memorise facts, and knows nothing about entities that it was never trained on.
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
  const drawFrom =
    (split: keyof Questions): DrawGraph =>
    (hops, draw) => {
      const pool = pools(hops)[split];
      // if there is no question of this length, use one of the training length
      return graphAround(world, draw.pick(pool.length > 0 ? pool : pools(options.hops)[split]), options, words, draw);
    };
  const trainingLength = pools(options.hops);
  const oneHopMore = pools(options.hops + 1);
  const source: GraphSource = {
    name,
    title,
    description: 'Answer a question by looking up one fact at a time.',
    asks: 'What',
    words,
    train: drawFrom('train'),
    heldOut: drawFrom('heldOut'),
    entities: trainingLength.entities.length > 0 ? drawFrom('entities') : null,
    shifted: drawFrom('heldOut'),
    ...(options.names === 'own' && { nameOf: namesOf(words, world) }),
    mostHops: oneHopMore.heldOut.length > 0 ? options.hops + 1 : options.hops,
    own: {
      doc: 'Ask about what the facts say, by the names they have there. Those of other tasks may be asked too, held-out ones included.',
      entities: world.entities.filter((_, entity) => (world.factsOf[entity] ?? []).length > 0),
      relations: world.relations,
      graph: (entity, relations, draw) => graphAround(world, pathOf(world, entity, relations), options, words, draw),
      example: () => {
        const path = trainingLength.train[0] ?? [];
        return [
          world.entities[path[0]?.entity ?? 0] ?? '',
          ...path.map(({ relation }) => world.relations[relation] ?? ''),
        ];
      },
    },
  };
  return graphSearch(source, options);
}

const MAX_NAMES_LISTED = 6;

/**
 * Returns the facts that lead along these relations. If one is missing, throws ProblemError and names the relations
 * that exist instead.
 */
function pathOf(world: FactWorld, start: string, asked: readonly string[]): Path {
  const path: Path[number][] = [];
  let entity = world.entities.indexOf(start);
  for (const name of asked) {
    const known = world.factsOf[entity] ?? [];
    const fact = known.find(({ relation }) => world.relations[relation] === name);
    if (!fact) {
      const alternatives = [...new Set(known.map(({ relation }) => world.relations[relation] ?? ''))].slice(
        0,
        MAX_NAMES_LISTED,
      );
      const hint =
        alternatives.length > 0
          ? `Use one of ${alternatives.join(', ')}.`
          : 'They say nothing about it: ask about fewer relations.';
      throw new ProblemError(`The facts do not say the ${name} of ${world.entities[entity] ?? start}. ${hint}`);
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

/**
 * Returns the questions of a length, made at the first use. Throws ConfigError if there are no questions of `hops` to
 * train on, or none to hold out.
 */
function questionPools(world: FactWorld, hops: number): (length: number) => Questions {
  const aside = setAside(world);
  const pools = new Map<number, Questions>();
  const poolOf = (length: number) => {
    const pool = pools.get(length) ?? questions(world, aside, length);
    pools.set(length, pool);
    return pool;
  };
  if (poolOf(hops).train.length === 0 || poolOf(hops).heldOut.length === 0) {
    const chains =
      poolOf(hops).train.length === 0 ? `no chain of ${hops} to train on` : `one chain of ${hops}: none to evaluate`;
    throw new ConfigError([
      {
        ...{ place: 'hops', what: `${hops}, but these ${world.factsOf.flat().length} facts hold ${chains}.` },
        remedy: 'Add facts whose subject is another fact’s object, or ask for fewer hops.',
      },
    ]);
  }
  return poolOf;
}

/**
 * Makes a graph of the world's part around a path, in words: random slot words for this episode, or each entity's own
 * word.
 */
function graphAround(
  world: FactWorld,
  path: Path,
  options: FactSearchOptions,
  words: { readonly entities: readonly string[]; readonly relations: readonly string[] },
  draw: Random,
): Graph {
  const part = neighbourhood(world, path, options, draw);
  const wordsFor = (numbers: readonly number[], all: readonly string[]): readonly string[] =>
    options.names === 'own' ? numbers.map((n) => all[n] ?? '') : draw.shuffle([...all]).slice(0, numbers.length);
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
    // the key ignores the facts around the path and their words, because they don't change the question
    key: [path[0]?.entity ?? 0, ...path.map(({ relation }) => relation)].join('.'),
    names: new Map([
      ...entities.map((word, i) => [word, world.entities[part.entities[i] ?? 0] ?? ''] as const),
      ...relations.map((word, i) => [word, world.relations[part.relations[i] ?? 0] ?? ''] as const),
    ]),
  };
}
