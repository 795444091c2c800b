import type { Facts } from '../facts/facts.ts';
import { Purpose, random, type Random } from '../base/rng.ts';
import type { Fact } from './graph.ts';

/** Facts by number. */
export interface FactWorld {
  readonly entities: readonly string[]; // names
  readonly relations: readonly string[]; // names
  readonly factsOf: readonly (readonly Fact[])[]; // [entity] those it is the subject of
}

/** A question by the path to its answer, which meets no entity twice. */
export type Path = readonly Fact[];

/** The questions of one length, by split. None is in two of them. */
export interface Questions {
  readonly train: readonly Path[];
  readonly heldOut: readonly Path[]; // about the same entities
  readonly entities: readonly Path[]; // whose first entity was set aside: no path of the other two meets it
}

// The splits belong to the facts: one run must not train on what another holds out.
const SPLIT_SEED = 20;
/** Share of the subjects that are set aside. */
const ENTITIES_ASIDE = 0.2;
/** One question in so many about the other entities is kept from training; of fewer, one. */
const HELD_OUT_EVERY = 5;
// A file of 20,000 facts has more chains than anyone will ask.
const MOST_QUESTIONS = 20_000;
const MOST_FROM_ONE = 48;

/** Numbers the facts. */
export function factWorld({ triples }: Facts): FactWorld {
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

/** Which entities are set aside, by number. The same facts set the same ones aside. */
export function setAside({ factsOf }: FactWorld): ReadonlySet<number> {
  const subjects = Array.from(factsOf.keys()).filter((entity) => (factsOf[entity] ?? []).length > 0);
  const shuffled = random(SPLIT_SEED, Purpose.environment, 0).shuffle(subjects);
  return new Set(shuffled.slice(0, Math.floor(ENTITIES_ASIDE * subjects.length)));
}

/** The questions of `hops` relations, up to 20,000 in each split, in an order that is always the same. */
export function questions(world: FactWorld, aside: ReadonlySet<number>, hops: number): Questions {
  const draw = random(SPLIT_SEED, Purpose.environment, 1, hops);
  const starts = draw.shuffle(Array.from(world.entities.keys()));
  const trained: Path[] = [];
  const entities: Path[] = [];
  for (const start of starts) {
    const isHeldOut = aside.has(start);
    const pool = isHeldOut ? entities : trained;
    if (pool.length >= MOST_QUESTIONS) continue;
    pool.push(...pathsFrom(world, start, hops, isHeldOut ? () => true : (entity) => !aside.has(entity), draw));
  }
  const mixed = draw.shuffle(trained);
  const every = Math.min(HELD_OUT_EVERY, Math.max(2, mixed.length));
  const isHeld = (i: number) => (i + 1) % every === 0;
  return {
    train: mixed.filter((_, i) => !isHeld(i)),
    heldOut: mixed.filter((_, i) => isHeld(i)),
    entities,
  };
}

/** Paths of `hops` facts from one entity that meet none twice and only those allowed; 48 at most, in random order. */
function pathsFrom(
  { factsOf }: FactWorld,
  start: number,
  hops: number,
  allowed: (entity: number) => boolean,
  draw: Random,
): Path[] {
  const found: Path[] = [];
  const walk = (entity: number, path: Path): void => {
    if (path.length === hops) {
      found.push(path);
      return;
    }
    for (const fact of draw.shuffle([...(factsOf[entity] ?? [])])) {
      if (found.length >= MOST_FROM_ONE) return;
      const met = fact.to === start || path.some(({ to }) => to === fact.to);
      if (!met && allowed(fact.to)) walk(fact.to, [...path, fact]);
    }
  };
  walk(start, []);
  return found;
}

/** The entities and relations of a small part of the world around a path: those of the path, then what they lead to and what else there is. */
export function neighbourhood(
  { entities, factsOf }: FactWorld,
  path: Path,
  most: { readonly entities: number; readonly relations: number },
  draw: Random,
): { readonly entities: readonly number[]; readonly relations: readonly number[] } {
  const met = new Set([path[0]?.entity ?? 0, ...path.map(({ to }) => to)]);
  const relations = new Set(path.map(({ relation }) => relation));
  // relations that the path's own entities have come first: a wrong turn then leads somewhere
  for (const { relation } of draw.shuffle(Array.from(met).flatMap((entity) => factsOf[entity] ?? []))) {
    if (relations.size < most.relations) relations.add(relation);
  }
  const anyone = () => draw.int(entities.length);
  for (let tries = 0; tries < 8 * most.entities && met.size < most.entities; tries++) {
    const from = tries % 2 === 0 ? draw.pick(Array.from(met)) : anyone();
    const fact = draw.shuffle((factsOf[from] ?? []).filter(({ relation }) => relations.has(relation)))[0];
    if (!fact) continue;
    met.add(from);
    if (met.size < most.entities) met.add(fact.to);
  }
  return { entities: draw.shuffle(Array.from(met)), relations: draw.shuffle(Array.from(relations)) };
}
