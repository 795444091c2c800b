import { expect, test } from 'vitest';
import { parseConfig } from '../../src/config/config.ts';
import type { Cost } from '../../src/domain/readings.ts';
import { Readers } from '../../src/session/readers.ts';

/** Readers of a run that trains adapters, where every answer has this cost. Null: a run that trains no adapters. */
function readersWhere(cost: Cost | null): Readers {
  const adaptedPolicies = cost && { cost: () => Promise.resolve(cost) };
  const run = { policy: { model: { value_head: false }, length: 8 }, adaptedPolicies, config: () => parseConfig({}) };
  return new Readers(run as unknown as ConstructorParameters<typeof Readers>[0]);
}

test('an answer is dear from half a minute or 256 MiB on, either by itself; without a checkpoint none is', async () => {
  const [long, large] = [
    { seconds: 31, bytes: 0 },
    { seconds: 0, bytes: 2 ** 28 + 1 },
  ];
  expect(await readersWhere(long).highCost(1, 1)).toBe(long);
  expect(await readersWhere(large).highCost(1, 1)).toBe(large);
  expect(await readersWhere({ seconds: 30, bytes: 2 ** 28 }).highCost(1, 1)).toBeNull();
  expect(await readersWhere(null).highCost(1e9, 64)).toBeNull();
});
