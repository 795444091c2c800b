import { expect, test } from 'vitest';
import { parseConfig } from '../src/config/config.ts';
import { PRESETS, type PresetName } from '../src/config/presets.ts';
import type { Health } from '../src/domain/health.ts';
import { openSession } from '../src/session/session.ts';
import { shippingHost } from './shippingHost.ts';
import { isWeekly } from './weekly.ts';

const UPDATES = isWeekly ? 200 : 20;

/** What the monitor says of a preset on the CPU: of so many updates, or until it says TRAP. */
async function heardOf(preset: PresetName, updates: number, seed = 7): Promise<readonly Health[]> {
  const run = { seed, updates, evalEvery: 0, evalTasks: 16, backend: 'cpu' };
  const session = await openSession(parseConfig({ ...PRESETS[preset].set, ...run }), shippingHost, () => undefined);
  const heard: Health[] = [];
  for (let update = 0; update < updates && heard.at(-1)?.state !== 'trap';) {
    const next = await session.events.next();
    if (next.done === true) throw new Error('training goes on for ever');
    if (next.value.type === 'health') heard.push(next.value.health);
    if (next.value.type === 'metrics') update = next.value.update;
  }
  session.dispose();
  return heard;
}

test('WOW-35: the first preset never leaves OK (seed 7, CPU)', async () => {
  const heard = await heardOf('number-hunt', UPDATES);
  expect(heard.length).toBeGreaterThan(UPDATES / 2); // it spoke all along
  expect(heard.filter(({ state }) => state !== 'ok')).toEqual([]);
  expect(heard.at(-1)?.since).toBe(0); // the update at which the state was entered
});

// seed 3 says TRAP at update 20, seed 7 at update 51
test.each(isWeekly ? [3, 7] : [3])(
  'WOW-35: Break it reaches TRAP within its 60 updates (seed %i, CPU), and the alarm quotes spread and base',
  async (seed) => {
    const alarm = (await heardOf('break-it', 60, seed)).at(-1);
    expect(alarm?.state).toBe('trap');
    expect(alarm?.evidence.map(({ text }) => text).join(' ')).toMatch(
      /spread of rewards within a prompt is [\d.e-]+, \d+ % of what it was in its best 10 updates \([\d.]+\)/,
    );
  },
);
