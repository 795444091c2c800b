import type { Facts } from '../facts/facts.ts';
import { Purpose, random, type Random } from '../base/rng.ts';
import type { Fact } from './graph.ts';

/** Facts whose entities and relations are numbered. */
export interface FactGraph {
  readonly entities: readonly string[]; // names
  readonly relations: readonly string[]; // names
  readonly factsOf: readonly (readonly Fact[])[]; // [entity] → the facts whose subject it is
}

/** A question, given as the path of facts to its answer. No entity occurs twice on it. */
export type Path = readonly Fact[];

/** The questions of one length by split. No question is in two splits. */
export interface QuestionSplits {
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

/** Numbers the entities and relations of facts. */
export function buildFactGraph({ triples }: Facts): FactGraph {
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
export function entitiesSetAside({ factsOf }: FactGraph): ReadonlySet<number> {
  const subjects = Array.from(factsOf.keys()).filter((entity) => (factsOf[entity] ?? []).length > 0);
  const shuffled = random(SPLIT_SEED, Purpose.environment, 0).shuffle(subjects);
  return new Set(shuffled.slice(0, Math.floor(SET_ASIDE_SHARE * subjects.length)));
}

/**
 * Returns the questions of `hops` relations, always in the same order: about 20,000 at most in the `entities` split,
 * and as many in the other two splits together.
 */
export function questionSplits(
  factGraph: FactGraph,
  setAsideEntities: ReadonlySet<number>,
  hops: number,
): QuestionSplits {
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

/**
 * Returns paths of `hops` facts from one entity, at most 48, in random order. A path contains no entity twice and only
 * allowed ones.
 */
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

/**
 * Chooses the entities and relations of a small part of the fact graph around a path: first those of the path, then
 * what the path's entities lead to, then random ones.
 */
export function neighbourhood(
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
