import { expect, it } from 'vitest';
import { StageProgress } from '../src/session/stageProgress.ts';
import { waitingWords } from '../src/page/words/sentences.ts';
import type { RunEvent } from '../src/wire/commands.ts';

type Phase = Extract<RunEvent, { type: 'phase' }>;
const phase = (name: Phase['phase'], done: number, total: number): Phase => ({
  ...{ type: 'phase', phase: name, update: 0, done, total },
});

/** A stage that tells into `told`, and its clock in ms. */
function stage() {
  const told: Phase[] = [];
  const clock = { now: 0 };
  return {
    told,
    clock,
    long: new StageProgress(
      (event) => told.push(event),
      () => clock.now,
    ),
  };
}

it('tells steps of imitation in tenths with the seconds that are left, of a single step too, and what lies between two steps does not count', () => {
  const { told, clock, long } = stage();
  long.withTimeLeft(phase('imitating', 12, 40));
  clock.now = 10_000;
  long.reportPart(30, 60);
  expect(told.at(-1)).toEqual({ ...phase('imitating', 12.5, 40), secondsLeft: 550 }); // 27.5 steps of 20 s
  clock.now = 20_000;
  long.reportPart(60, 60);
  clock.now = 500_000; // nobody pulled
  expect(long.withTimeLeft(phase('imitating', 13, 40))).toMatchObject({ done: 13, secondsLeft: 540 });
  long.withTimeLeft(phase('evaluating', 0, 0));
  long.withTimeLeft(phase('imitating', 0, 1));
  clock.now = 503_000;
  long.reportPart(15, 60);
  expect(told.at(-1)).toEqual({ ...phase('imitating', 0.2, 1), secondsLeft: 9 });
});

it('tells one optimizer step by its layers, and of rollouts how many are over but not what is left', () => {
  const { told, clock, long } = stage();
  long.withTimeLeft(phase('updating', 0, 1));
  clock.now = 3000;
  long.reportPart(10, 40);
  expect(told.at(-1)).toEqual({ ...phase('updating', 10, 40), secondsLeft: 9 });
  long.withTimeLeft(phase('sampling', 0, 0));
  clock.now = 9000;
  long.reportPart(1, 4);
  expect(told.at(-1)).toEqual(phase('sampling', 1, 4));
});

it('tells the seconds that are left of imitation without parts, from all steps but the first, and pauses do not count', () => {
  const { clock, long } = stage();
  const step = (done: number, ms: number) => {
    long.resume();
    clock.now += ms;
    long.withTimeLeft({ type: 'imitated', done, total: 600, loss: 1 });
    return long.withTimeLeft(phase('imitating', done, 600));
  };
  expect(long.withTimeLeft(phase('imitating', 0, 600))).not.toHaveProperty('secondsLeft');
  expect(step(1, 9000)).not.toHaveProperty('secondsLeft'); // the first step is slow
  expect(step(2, 1000)).not.toHaveProperty('secondsLeft'); // too early to tell
  clock.now += 500_000; // nobody pulled
  expect(step(3, 1200)).toMatchObject({ done: 3, secondsLeft: 657 }); // 597 steps of 1.1 s
  const waits = { ...{ starting: false, paused: false, update: 0, rollouts: 8 }, phase: 'imitating' } as const;
  expect(waitingWords({ ...waits, done: 30, total: 600, secondsLeft: 57 })).toMatch(/step 31 of 600 .*About 57 s left/);
});
