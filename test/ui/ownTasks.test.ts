import { expect, test } from 'vitest';
import type { EpisodeView } from '../../src/domain/episode.ts';
import { nextSeed, taskToShow } from '../../src/page/stage/liveAgent.ts';
import type { Play } from '../../src/page/stage/play.ts';

const SEEDS = [70, 71, 72];
const played = (seed: number, update: number, success = false) =>
  ({ update, episode: { seed, success } as EpisodeView, rollout: {}, ends: [] }) as unknown as Play;

test('between two updates the reader’s agent plays the shown task and the others by turns, and every task after the last', () => {
  const plays: Play[] = [];
  const order: (number | undefined)[] = [];
  for (let update = 1; update <= 6; update++) {
    const seed = nextSeed(SEEDS, 1, update, plays); // updates are so fast that only one task is played after each
    order.push(seed);
    if (seed !== undefined) plays.push(played(seed, update));
  }
  expect(order).toEqual([71, 70, 71, 72, 71, 70]);
  const rest: number[] = [];
  for (let seed = nextSeed(SEEDS, 1, 6, plays); seed !== undefined; seed = nextSeed(SEEDS, 1, 6, plays)) {
    rest.push(seed);
    plays.push(played(seed, 6));
  }
  expect(rest).toEqual([71, 72]);
});

test.each([
  ['the shown task if it is solved', [true, true, false], 1, 1],
  ['else the first that is solved', [false, false, true], 1, 2],
  ['the shown task if none is solved', [false, false, false], 1, 1],
])('after training the stage shows %s', (_, success, shown, expected) => {
  // earlier plays had the opposite outcome
  const plays = [5, 6].flatMap((update) => SEEDS.map((seed, i) => played(seed, update, success[i] === (update === 6))));
  expect(taskToShow(SEEDS, shown, plays)).toBe(expected);
});
