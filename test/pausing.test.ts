import { expect, test } from 'vitest';
import { parseConfig } from '../src/config/config.ts';
import { PRESETS } from '../src/config/presets.ts';
import { bytesInMemory } from '../src/formats/byteSource.ts';
import { openSession } from '../src/session/session.ts';
import { openBase } from '../src/speaking/textCheckpoint.ts';
import type { RunEvent } from '../src/wire/commands.ts';
import { pausing } from '../src/worker/pausing.ts';
import { tinyGguf } from './speaking/tinyGguf.ts';

const LAYERS = 3;
const config = parseConfig({
  ...PRESETS['smollm2-hunt'].set,
  ...{ estimator: 'reinforce', prompts: 1, groupSize: 2, maxTurns: 1, adapterRank: 2, adapterAlpha: 4 },
  ...{ imitationSteps: 1, evalTasks: 1, updates: 1 },
});
const soon = () => new Promise((resolve) => setTimeout(resolve, 1));

/** Trains one update beside a checkpoint of three layers, paused in the middle of each stage of `stages`; the weights after it, and what was seen of each pause. */
async function trained(stages: readonly string[]) {
  const name = 'three.gguf';
  const base = await openBase(name, [{ path: name, source: bytesInMemory(name, tinyGguf({}, LAYERS)) }]);
  let paused = false;
  let told = 0; // pieces of stages
  const due = new Set(stages);
  const onEvent = (event: RunEvent) => {
    if (event.type !== 'phase' || event.phase === 'compiling') return;
    told++;
    if (paused || !due.delete(event.phase)) return;
    paused = true; // in the middle of a stage: as the page asks, whenever it does
  };
  let looks = 0; // whether it may go on
  const isPaused = () => {
    looks++;
    return paused;
  };
  const yieldToEvents = () => new Promise<void>((resolve) => setImmediate(resolve));
  const between = pausing({ yieldToEvents, now: () => performance.now() }, { isPaused, isReplaced: () => false });
  const host = { gpu: undefined, shippedFile: () => Promise.resolve(null), yieldToEvents, ...between };
  const session = await openSession(config, host, onEvent, { openedBase: base });
  const stands = () => {
    const at = host.now();
    return host.now() === at;
  };
  const pauses: { stage: string; late: number; moved: number; clock: number }[] = [];
  const toEnd = (async () => {
    for (;;) {
      const event = (await session.events.next()).value as RunEvent;
      if (event.type === 'metrics' && event.update === 1) return;
    }
  })();
  for (const stage of stages) {
    while (!isPaused()) await soon();
    const asked = told;
    await session.answer({ kind: 'checksum' }); // the event loop runs, and the run can be asked
    while (!stands()) await soon(); // the piece under way ends
    const [before, clock, looked] = [told, host.now(), looks];
    while (looks < looked + 3) await soon();
    pauses.push({ stage, late: before - asked, moved: told - before, clock: host.now() - clock });
    paused = false;
  }
  await toEnd;
  const hash = await session.parametersHash();
  session.dispose();
  return { hash, told, pauses };
}

test('a run is paused in the middle of each of its long stages, after the piece under way, and goes on from there: no piece is done again and no bit differs', async () => {
  const whole = await trained([]);
  const cut = await trained(['imitating', 'sampling', 'scoring', 'updating']);
  expect(cut.pauses).toHaveLength(4);
  for (const { late, moved, clock } of cut.pauses) {
    expect(late).toBeLessThanOrEqual(1);
    expect(moved).toBe(0);
    expect(clock).toBe(0); // its clock stands still, so that what it measures knows nothing of pauses
  }
  expect(cut.told).toBe(whole.told);
  expect(cut.hash).toBe(whole.hash);
});
