import { expect, test } from 'vitest';
import { StageClock } from '../src/session/runMeter.ts';

test('every moment belongs to one stage, pauses to none, and spans follow each other', () => {
  let at = 0;
  const clock = new StageClock(() => at);
  clock.start();
  clock.enter('sampling');
  at = 10;
  clock.enter('other');
  at = 11;
  clock.enter('sampling'); // again, by then
  at = 15;
  clock.stop(); // paused
  at = 100;
  clock.start();
  at = 103;
  const { update, ms, spans } = clock.finish(7, true);
  expect({ update, ms }).toEqual({ update: 7, ms: 18 });
  expect(spans).toEqual([
    { stage: 'sampling', start: 0, ms: 10 },
    { stage: 'other', start: 10, ms: 1 },
    { stage: 'sampling', start: 11, ms: 4 },
    { stage: 'sampling', start: 100, ms: 3 },
  ]);
});

test('the next update begins where the last one ended', () => {
  let at = 5;
  const clock = new StageClock(() => at);
  clock.start();
  at = 8;
  expect(clock.finish(1, false).ms).toBe(3);
  at = 12;
  clock.enter('updating');
  at = 13;
  expect(clock.finish(2, false).spans).toEqual([
    { stage: 'other', start: 8, ms: 4 },
    { stage: 'updating', start: 12, ms: 1 },
  ]);
});
