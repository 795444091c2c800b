import type { RunConfig } from '../config/config.ts';
import type { Facts } from '../facts/facts.ts';

const WORLD = 'worlds/countries.csv';
let world: Facts | null = null; // the same object each time: what is made of it can be kept

/** What a run asks about: the facts that are shipped, or a person's own; null where there are none, or none are asked about. */
export async function factsFor(
  { env }: RunConfig,
  own: Facts | null,
  shippedFile: (path: string) => Promise<ArrayBuffer | null>,
): Promise<Facts | null> {
  if (env === 'your-facts') return own;
  if (env !== 'world-facts') return null;
  if (!world) {
    const bytes = await shippedFile(WORLD);
    // the parser is only loaded where there is something to parse
    world = bytes && (await import('../facts/parse.ts')).parseFacts(WORLD, new Uint8Array(bytes)).facts;
  }
  return world;
}
