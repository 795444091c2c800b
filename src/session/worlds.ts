import type { RunConfig } from '../config/config.ts';
import { ENVIRONMENTS } from '../config/environments.ts';
import type { Facts } from '../facts/facts.ts';

const worlds = new Map<string, Facts>(); // by file; the same object each time: what is made of it can be kept

/** What a run asks about: the facts that are shipped, or a person's own; null where there are none, or none are asked about. */
export async function factsFor(
  { env }: RunConfig,
  own: Facts | null,
  shippedFile: (path: string) => Promise<ArrayBuffer | null>,
): Promise<Facts | null> {
  const { facts } = ENVIRONMENTS[env];
  if (facts === undefined || facts === 'own') return facts ? own : null;
  const known = worlds.get(facts);
  if (known) return known;
  const bytes = await shippedFile(facts);
  // the parser is only loaded where there is something to parse
  const world = bytes && (await import('../facts/parse.ts')).parseFacts(facts, new Uint8Array(bytes)).facts;
  if (world) worlds.set(facts, world);
  return world;
}
