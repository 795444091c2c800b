import type { RunConfig } from '../config/config.ts';
import { ENVIRONMENTS } from '../config/environments.ts';
import type { Facts } from '../facts/facts.ts';

type ShippedFile = (path: string) => Promise<ArrayBuffer | null>;

// the facts that were read, by reader and file; always the same objects, so that results computed from them can be cached
const readFacts = new WeakMap<ShippedFile, Map<string, Facts>>();

/** The shipped ones or the person's own. Null if the environment asks about no facts, or there are none. */
export async function factsFor({ env }: RunConfig, own: Facts | null, shippedFile: ShippedFile): Promise<Facts | null> {
  const { facts } = ENVIRONMENTS[env];
  if (facts === undefined || facts === 'own') return facts ? own : null;
  const factsByFile = readFacts.get(shippedFile) ?? new Map<string, Facts>();
  readFacts.set(shippedFile, factsByFile);
  const cached = factsByFile.get(facts);
  if (cached) return cached;
  const bytes = await shippedFile(facts);
  // imported here, so that the parser is loaded only if there is something to parse
  const parsed = bytes && (await import('../facts/parse.ts')).parseFacts(facts, new Uint8Array(bytes)).facts;
  if (parsed) factsByFile.set(facts, parsed);
  return parsed;
}
