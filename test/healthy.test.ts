import { expect, test } from 'vitest';
import { parseConfig } from '../src/config/config.ts';
import { PRESETS } from '../src/config/presets.ts';
import type { Health } from '../src/domain/health.ts';
import { openSession } from '../src/session/session.ts';
import { shippingHost } from './shippingHost.ts';
import { isWeekly } from './weekly.ts';

/** The other preset is at TRAP within 40. */
const UPDATES = isWeekly ? 200 : 60;

test('WOW-35: the first preset never leaves OK (seed 7, CPU)', async () => {
  const run = { seed: 7, updates: UPDATES, evalEvery: 0, evalTasks: 16, backend: 'cpu' };
  const session = await openSession(
    parseConfig({ ...PRESETS['number-hunt'].set, ...run }),
    shippingHost,
    () => undefined,
  );
  const heard: Health[] = [];
  for (let update = 0; update < UPDATES;) {
    const next = await session.events.next();
    if (next.done === true) throw new Error('training goes on for ever');
    if (next.value.type === 'health') heard.push(next.value.health);
    if (next.value.type === 'metrics') update = next.value.update;
  }
  session.dispose();
  expect(heard.length).toBeGreaterThan(UPDATES / 2); // it spoke all along
  expect(heard.filter(({ state }) => state !== 'ok')).toEqual([]);
  expect(heard.at(-1)?.since).toBe(0); // the update at which the state was entered
});
