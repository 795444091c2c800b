import { expect, it } from 'vitest';
import { parseConfig } from '../src/config/config.ts';
import { PRESETS } from '../src/config/presets.ts';
import { bytesInMemory } from '../src/formats/byteSource.ts';
import { BackendError } from '../src/model/policy.ts';
import { openEnvironment } from '../src/session/environment.ts';
import { plannedTraining } from '../src/session/plannedTraining.ts';
import { openSession } from '../src/session/session.ts';
import { checkFits, trainingPlan } from '../src/session/trainingMemory.ts';
import { openBase } from '../src/speaking/textCheckpoint.ts';
import type { RunEvent } from '../src/wire/commands.ts';
import { tinyGguf } from './speaking/tinyGguf.ts';
import { bareHost } from './bareHost.ts';

const config = parseConfig({ ...PRESETS['smollm2-hunt'].set, prompts: 4, groupSize: 4, adapterRank: 8 });
const base = await openBase('tiny.gguf', [{ path: 'tiny.gguf', source: bytesInMemory('tiny.gguf', tinyGguf()) }]);
const envOf = async (knobs: typeof config) =>
  (await openEnvironment(knobs, { facts: null, chatTokenizer: null, base }, bareHost)).env;

it('a run reserves what was planned for it, and more with more rows and a higher rank', async () => {
  const small = { ...config, prompts: 1, groupSize: 2, imitationSteps: 1 };
  const plan = await plannedTraining(small, base, bareHost);
  const told: RunEvent[] = [];
  (await openSession(small, bareHost, (event) => told.push(event), { openedBase: base })).dispose();
  const ready = told.find((event) => event.type === 'ready');
  expect(ready?.memoryBytes).toBe(plan.bytes);
  expect(plan.parts.reduce((sum, { bytes }) => sum + bytes, 0)).toBe(plan.bytes);
  expect((await plannedTraining({ ...small, groupSize: 3 }, base, bareHost)).bytes).toBeGreaterThan(plan.bytes);
  expect((await plannedTraining({ ...small, adapterRank: 9 }, base, bareHost)).bytes).toBeGreaterThan(plan.bytes);
});

it('one that does not fit names, for each knob that would do alone, the largest value that does', async () => {
  const env = await envOf(config);
  const { bytes } = await trainingPlan(config, base, env);
  const { bytes: most } = await trainingPlan({ ...config, groupSize: 2 }, base, env);
  const plan = await trainingPlan(config, base, env, envOf, most);
  expect(plan.fitting.map(({ field }) => field)).toEqual(expect.arrayContaining(['groupSize', 'prompts']));
  for (const { field, value, bytes: then } of plan.fitting) {
    const under = async (to: number) => {
      const knobs = { ...config, [field]: to };
      return (await trainingPlan(knobs, base, await envOf(knobs))).bytes;
    };
    expect(value).toBeLessThan(config[field] as number);
    expect(await under(value)).toBe(then);
    expect(then).toBeLessThanOrEqual(most);
    expect(await under(value + 1)).toBeGreaterThan(most);
  }
  expect(() => checkFits(plan)).toThrow(BackendError);
  expect(() => checkFits(plan)).toThrow(/^The run needs .* GiB\. On the CPU at most .* GiB fit\. /);
  expect(() => checkFits({ ...plan, maxBytes: bytes })).not.toThrow();
  // what fits with no knob alone names none
  expect((await trainingPlan(config, base, env, envOf, 1000)).fitting).toEqual([]);
});
