import type { RunConfig } from '../config/config.ts';
import { ENVIRONMENTS } from '../config/environments.ts';
import type { Facts } from '../facts/facts.ts';

type ShippedFile = (path: string) => Promise<ArrayBuffer | null>;

// by reader and file; always the same object, so that what is computed from it can be cached
const read = new WeakMap<ShippedFile, Map<string, Facts>>();

/** The facts that a run asks about: those that come with the page, or the person's own. Null if the environment asks about no facts, or there are none. */
export async function factsFor({ env }: RunConfig, own: Facts | null, shippedFile: ShippedFile): Promise<Facts | null> {
  const { facts } = ENVIRONMENTS[env];
  if (facts === undefined || facts === 'own') return facts ? own : null;
  const worlds = read.get(shippedFile) ?? new Map<string, Facts>();
  read.set(shippedFile, worlds);
  const known = worlds.get(facts);
  if (known) return known;
  const bytes = await shippedFile(facts);
  // the parser is only loaded where there is something to parse
  const world = bytes && (await import('../facts/parse.ts')).parseFacts(facts, new Uint8Array(bytes)).facts;
  if (world) worlds.set(facts, world);
  return world;
}
