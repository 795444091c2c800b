import type { RunConfig } from '../config/config.ts';
import { ENVIRONMENTS } from '../config/environments.ts';
import type { Facts } from '../facts/facts.ts';

type ShippedFile = (path: string) => Promise<ArrayBuffer | null>;

// by who reads them, and by file; the same object each time: what is made of it can be kept
const read = new WeakMap<ShippedFile, Map<string, Facts>>();

/** What a run asks about: the facts that are shipped, or a person's own; null if there are none, or none are asked about. */
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
