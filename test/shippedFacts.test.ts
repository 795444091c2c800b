import { expect, it } from 'vitest';
import { parseConfig } from '../src/config/config.ts';
import { factsFor } from '../src/session/shippedFacts.ts';

const config = parseConfig({ env: 'world-facts' });
/** A place that ships three facts about a town as the world's. */
const shipping = (town: string) => () =>
  Promise.resolve(
    new TextEncoder().encode(`${town},lies in,Region 1\nRegion 1,belongs to,Country 1\n${town},speaks,Latin`).buffer,
  );

it('facts are those of the place that ships them, the same object each time, and never another place’s of the same name', async () => {
  const [here, there] = [shipping('Here'), shipping('There')];
  const first = await factsFor(config, null, here);
  expect(first).not.toBeNull();
  expect(await factsFor(config, null, here)).toBe(first);
  const other = await factsFor(config, null, there);
  const subjects = [first, other].map((facts) => facts?.triples[0]?.[0]);
  expect(subjects).toEqual(['Here', 'There']);
});
