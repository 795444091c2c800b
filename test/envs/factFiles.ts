import { readFileSync } from 'node:fs';
import type { RunConfig } from '../../src/config/config.ts';
import type { Facts } from '../../src/facts/facts.ts';
import { parseFacts } from '../../src/facts/parse.ts';

/** The facts that are shipped. */
export const COUNTRIES: Facts = parseFacts(
  'countries.csv',
  readFileSync(new URL('../../public/worlds/countries.csv', import.meta.url)),
).facts;

// three crews of ten ships: each ship follows another of its crew in a ring, has a master and a port, and ports lie in three seas
const SHIPS = Array.from({ length: 30 }, (_, i) => i);
const FLEET = SHIPS.flatMap((i) => {
  const crew = Math.floor(i / 10);
  return [
    `ship ${i},follows,ship ${10 * crew + ((i + 1) % 10)}`,
    `ship ${i},master,<b>Master ${i}</b>`,
    `ship ${i},port,port ${i % 7}`,
    `<b>Master ${i}</b>,home,port ${(i + 3) % 7}`,
  ];
});
const SEAS = Array.from({ length: 7 }, (_, i) => `port ${i},sea,sea ${i % 3}`);

/** A made-up file as a person might bring it. */
const SHIP_FACTS: Facts = parseFacts('ships.csv', [...FLEET, ...SEAS].join('\n')).facts;

/** What an environment asks about in tests; null where it asks about nothing. */
export function factsFor(env: RunConfig['env']): Facts | null {
  if (env === 'world-facts') return COUNTRIES;
  return env === 'your-facts' ? SHIP_FACTS : null;
}
