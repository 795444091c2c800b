import type { RunConfig } from '../config/fields.ts';
import { ConfigError } from '../config/configProblem.ts';
import type { Facts } from '../facts/facts.ts';
import { type Random, Purpose, random } from '../base/rng.ts';
import { ProblemError } from '../base/problem.ts';
import type { ToolEnv } from './env.ts';
import type { Graph, Fact } from './graph.ts';
import { type DrawGraph, graphSearch, type GraphSearchOptions, type GraphSource } from './graphSearch.ts';

/** Facts whose entities and relations are numbered. */
interface FactGraph {
  readonly entities: readonly string[]; // names
  readonly relations: readonly string[]; // names
  readonly factsOf: readonly (readonly Fact[])[]; // [entity] → the facts whose subject it is
}

/** A question, given as the path of facts to its answer. No entity occurs twice on it. */
type Path = readonly Fact[];

/** The questions of one length by split. No question is in two splits. */
interface QuestionSplits {
  readonly train: readonly Path[];
  readonly heldOut: readonly Path[]; // about the same entities
  readonly entities: readonly Path[]; // their first entity was set aside: no path of the other two splits contains it
}

// The splits only depend on the facts, so that no run trains on questions that another run holds out.
const SPLIT_SEED = 20;
/** Share of the subjects that are set aside for the `entities` split. */
const SET_ASIDE_SHARE = 0.2;
/** One question in this many about the other entities is held out. If there are only two to four, one is. */
const HELD_OUT_EVERY = 5;
// Limits of the `entities` split, of the other two splits together, and for each first entity: a file of 20,000 facts
// has more chains than anyone will ask.
const MAX_QUESTIONS = 20_000;
const MAX_PATHS_PER_ENTITY = 48;

function buildFactGraph({ triples }: Facts): FactGraph {
  const numbering = () => {
    const byName = new Map<string, number>();
    return { byName, of: (name: string) => byName.get(name) ?? (byName.set(name, byName.size), byName.size - 1) };
  };
  const entities = numbering();
  const relations = numbering();
  const factsOf: Fact[][] = [];
  for (const [subject, relation, object] of triples) {
    const fact = { entity: entities.of(subject), relation: relations.of(relation), to: entities.of(object) };
    (factsOf[fact.entity] ??= []).push(fact);
  }
  const names = Array.from(entities.byName.keys());
  return {
    entities: names,
    relations: Array.from(relations.byName.keys()),
    factsOf: names.map((_, e) => factsOf[e] ?? []),
  };
}

/** Returns the numbers of the entities that are set aside. It is the same set for the same facts. */
function entitiesSetAside({ factsOf }: FactGraph): ReadonlySet<number> {
  const subjects = Array.from(factsOf.keys()).filter((entity) => (factsOf[entity] ?? []).length > 0);
  const shuffled = random(SPLIT_SEED, Purpose.environment, 0).shuffle(subjects);
  return new Set(shuffled.slice(0, Math.floor(SET_ASIDE_SHARE * subjects.length)));
}

/** Always in the same order: about 20,000 at most in the `entities` split, and as many in the other two splits together. */
function questionSplits(factGraph: FactGraph, setAsideEntities: ReadonlySet<number>, hops: number): QuestionSplits {
  const draw = random(SPLIT_SEED, Purpose.environment, 1, hops);
  const starts = draw.shuffle(Array.from(factGraph.entities.keys()));
  const otherPaths: Path[] = [];
  const entities: Path[] = [];
  for (const start of starts) {
    const isSetAside = setAsideEntities.has(start);
    const splitPaths = isSetAside ? entities : otherPaths;
    if (splitPaths.length >= MAX_QUESTIONS) continue;
    splitPaths.push(
      ...pathsFrom(factGraph, start, hops, isSetAside ? () => true : (entity) => !setAsideEntities.has(entity), draw),
    );
  }
  const shuffledPaths = draw.shuffle(otherPaths);
  const interval = Math.min(HELD_OUT_EVERY, Math.max(2, shuffledPaths.length));
  const isHeldOut = (i: number) => (i + 1) % interval === 0;
  return {
    train: shuffledPaths.filter((_, i) => !isHeldOut(i)),
    heldOut: shuffledPaths.filter((_, i) => isHeldOut(i)),
    entities,
  };
}

/** At most 48 paths of `hops` facts, in random order. A path contains no entity twice and only allowed ones. */
function pathsFrom(
  { factsOf }: FactGraph,
  start: number,
  hops: number,
  allowed: (entity: number) => boolean,
  draw: Random,
): Path[] {
  const paths: Path[] = [];
  const walk = (entity: number, path: Path): void => {
    if (path.length === hops) {
      paths.push(path);
      return;
    }
    for (const fact of draw.shuffle([...(factsOf[entity] ?? [])])) {
      if (paths.length >= MAX_PATHS_PER_ENTITY) return;
      const visited = fact.to === start || path.some(({ to }) => to === fact.to);
      if (!visited && allowed(fact.to)) walk(fact.to, [...path, fact]);
    }
  };
  walk(start, []);
  return paths;
}

/** First the entities and relations of the path, then what the path's entities lead to, then random ones. */
function neighbourhood(
  { entities, factsOf }: FactGraph,
  path: Path,
  limits: { readonly entities: number; readonly relations: number },
  draw: Random,
): { readonly entities: readonly number[]; readonly relations: readonly number[] } {
  const entitiesSeen = new Set([path[0]?.entity ?? 0, ...path.map(({ to }) => to)]);
  const relations = new Set(path.map(({ relation }) => relation));
  // relations of the path's entities come first, so that a wrong call also finds something
  for (const { relation } of draw.shuffle(Array.from(entitiesSeen).flatMap((entity) => factsOf[entity] ?? []))) {
    if (relations.size < limits.relations) relations.add(relation);
  }
  const randomEntity = () => draw.int(entities.length);
  for (let tries = 0; tries < 8 * limits.entities && entitiesSeen.size < limits.entities; tries++) {
    const from = tries % 2 === 0 ? draw.pick(Array.from(entitiesSeen)) : randomEntity();
    const fact = draw.shuffle((factsOf[from] ?? []).filter(({ relation }) => relations.has(relation)))[0];
    if (!fact) continue;
    entitiesSeen.add(from);
    if (entitiesSeen.size < limits.entities) entitiesSeen.add(fact.to);
  }
  return { entities: draw.shuffle(Array.from(entitiesSeen)), relations: draw.shuffle(Array.from(relations)) };
}

export interface FactSearchOptions extends GraphSearchOptions {
  readonly entities: number; // entities in the part of the fact graph that an episode sees
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
  const factGraph = buildFactGraph(facts);
  const questionsOfLength = questionsByLength(factGraph, options.hops);
  const words = {
    entities: slotWords('e', options.names === 'own' ? factGraph.entities.length : options.entities),
    relations: slotWords('r', options.names === 'own' ? factGraph.relations.length : options.relations),
  };
  const drawFrom =
    (split: keyof QuestionSplits): DrawGraph =>
    (hops, draw) => {
      const paths = questionsOfLength(hops)[split];
      // if there is no question of this length, use one of the training length
      return graphAround(
        factGraph,
        draw.pick(paths.length > 0 ? paths : questionsOfLength(options.hops)[split]),
        options,
        words,
        draw,
      );
    };
  const trainingQuestions = questionsOfLength(options.hops);
  const longerQuestions = questionsOfLength(options.hops + 1);
  const source: GraphSource = {
    name,
    title,
    description: 'Answer a question by looking up one fact at a time.',
    questionWord: 'What',
    words,
    train: drawFrom('train'),
    heldOut: drawFrom('heldOut'),
    entities: trainingQuestions.entities.length > 0 ? drawFrom('entities') : null,
    shifted: drawFrom('heldOut'),
    ...(options.names === 'own' && { nameOf: namesOf(words, factGraph) }),
    maxHops: longerQuestions.heldOut.length > 0 ? options.hops + 1 : options.hops,
    formParts: {
      doc: 'Ask about what the facts say, by the names they have there. Those of other tasks may be asked too, held-out ones included.',
      entities: factGraph.entities.filter((_, entity) => (factGraph.factsOf[entity] ?? []).length > 0),
      relations: factGraph.relations,
      graph: (entity, relations, draw) =>
        graphAround(factGraph, pathOf(factGraph, entity, relations), options, words, draw),
      example: () => {
        const path = trainingQuestions.train[0] ?? [];
        return [
          factGraph.entities[path[0]?.entity ?? 0] ?? '',
          ...path.map(({ relation }) => factGraph.relations[relation] ?? ''),
        ];
      },
    },
  };
  return graphSearch(source, options);
}

const MAX_NAMES_LISTED = 6;

/** If a fact is missing, throws ProblemError and names the relations that exist instead. */
function pathOf(factGraph: FactGraph, start: string, askedRelations: readonly string[]): Path {
  const path: Path[number][] = [];
  let entity = factGraph.entities.indexOf(start);
  for (const name of askedRelations) {
    const entityFacts = factGraph.factsOf[entity] ?? [];
    const fact = entityFacts.find(({ relation }) => factGraph.relations[relation] === name);
    if (!fact) {
      const alternatives = [...new Set(entityFacts.map(({ relation }) => factGraph.relations[relation] ?? ''))].slice(
        0,
        MAX_NAMES_LISTED,
      );
      const hint =
        alternatives.length > 0
          ? `Use one of ${alternatives.join(', ')}.`
          : 'They say nothing about it: ask about fewer relations.';
      throw new ProblemError(`The facts do not say the ${name} of ${factGraph.entities[entity] ?? start}. ${hint}`);
    }
    path.push(fact);
    entity = fact.to;
  }
  return path;
}

function namesOf(
  words: { readonly entities: readonly string[]; readonly relations: readonly string[] },
  factGraph: FactGraph,
): ReadonlyMap<string, string> {
  return new Map([
    ...words.entities.map((word, i) => [word, factGraph.entities[i] ?? ''] as const),
    ...words.relations.map((word, i) => [word, factGraph.relations[i] ?? ''] as const),
  ]);
}

function slotWords(letter: string, count: number): readonly string[] {
  return Array.from({ length: count }, (_, i) => `${letter}${i}`);
}

/** Made at the first use. Throws ConfigError if there are no questions of `hops` to train on, or none to hold out. */
function questionsByLength(factGraph: FactGraph, hops: number): (length: number) => QuestionSplits {
  const setAside = entitiesSetAside(factGraph);
  const cache = new Map<number, QuestionSplits>();
  const questionsOf = (length: number) => {
    const splits = cache.get(length) ?? questionSplits(factGraph, setAside, length);
    cache.set(length, splits);
    return splits;
  };
  if (questionsOf(hops).train.length === 0 || questionsOf(hops).heldOut.length === 0) {
    const chains =
      questionsOf(hops).train.length === 0
        ? `no chain of ${hops} to train on`
        : `one chain of ${hops}: none to evaluate`;
    throw new ConfigError([
      {
        ...{ place: 'hops', what: `${hops}, but these ${factGraph.factsOf.flat().length} facts hold ${chains}.` },
        remedy: 'Add facts whose subject is another fact’s object, or ask for fewer hops.',
      },
    ]);
  }
  return questionsOf;
}

/** The part of the fact graph around a path, in words: random slot words for this episode, or each entity's own word. */
function graphAround(
  factGraph: FactGraph,
  path: Path,
  options: FactSearchOptions,
  words: { readonly entities: readonly string[]; readonly relations: readonly string[] },
  draw: Random,
): Graph {
  const part = neighbourhood(factGraph, path, options, draw);
  const wordsFor = (numbers: readonly number[], all: readonly string[]): readonly string[] =>
    options.names === 'own' ? numbers.map((n) => all[n] ?? '') : draw.shuffle([...all]).slice(0, numbers.length);
  const entities = wordsFor(part.entities, words.entities);
  const relations = wordsFor(part.relations, words.relations);
  const edges = part.relations.map((relation) =>
    part.entities.map((entity) => {
      const to = factGraph.factsOf[entity]?.find((fact) => fact.relation === relation)?.to ?? -1;
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
      ...entities.map((word, i) => [word, factGraph.entities[part.entities[i] ?? 0] ?? ''] as const),
      ...relations.map((word, i) => [word, factGraph.relations[part.relations[i] ?? 0] ?? ''] as const),
    ]),
  };
}
