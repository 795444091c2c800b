import { expect, test } from 'vitest';
import type { PlayedBatch } from '../src/domain/batch.ts';
import type { PresetName } from '../src/config/presets.ts';
import { type TaskPlays, instructivePlays } from '../src/runs/recordedPlays.ts';
import { example } from './ui/example.ts';
import { shippedRecording } from './shippedRecording.ts';

/** A play of the task `seed`, of one row and some turns. */
function play(seed: number, success: boolean, turns: number): PlayedBatch {
  const { tokens, roles, turns: of, lengths, length, episodes } = example;
  const episode = { ...episodes[0]!, seed, success, turns, row: 0 };
  return { rows: 1, length, tokens, roles, turns: of, lengths, episodes: [episode] };
}
const course = (seed: number, ...solvedIn: readonly (number | null)[]): TaskPlays =>
  solvedIn.map((turns, update) => [update, play(seed, turns !== null, turns ?? 4)] as const);

test('a recording follows the tasks that show what was learned: not solved before training, solved after it, and for good', () => {
  const courses = [
    course(1, 4, 4, 4), // always solved
    course(2, null, null, null), // never
    course(3, null, 3, 4),
    course(4, null, null, 1), // in one turn, as by luck
    course(5, null, 4, 3),
    course(6, 3, 3, null), // unlearned
    course(7, null, 3, 2),
  ];
  const [before, between, after] = instructivePlays(courses);
  const seeds = (of: typeof before) => of?.batch.episodes.map(({ seed }) => seed);
  expect(seeds(before)).toEqual([3, 5, 7]);
  expect(seeds(between)).toEqual([3, 5, 7]);
  expect(seeds(after)).toEqual([3, 5, 7, 1, 2, 4, 6]);
  expect(after?.batch.episodes.map(({ row }) => row)).toEqual([0, 1, 2, 3, 4, 5, 6]);
});

test('where no task shows it, only what the trained agent plays is kept; of no tasks nothing is', () => {
  expect(instructivePlays([course(1, 4, 4), course(2, null, null)]).map(({ update }) => update)).toEqual([1]);
  expect(instructivePlays([])).toEqual([]);
});

test.each(['number-hunt', 'multi-hop', 'frozen-lake', 'calculator'] as const satisfies readonly PresetName[])(
  'the recording of %s follows up to three tasks through twenty updates, from unsolved to solved',
  (preset) => {
    const { plays, begun, vocabulary } = shippedRecording(preset);
    const [first, last] = [plays[0], plays.at(-1)];
    expect(plays.length).toBe(20);
    expect([first?.update, last?.update]).toEqual([0, begun.updates]);
    const seeds = first?.batch.episodes.map(({ seed }) => seed) ?? [];
    expect(seeds.length).toBe(3);
    for (const { batch } of plays) {
      expect(batch.episodes.slice(0, 3).map(({ seed }) => seed)).toEqual(seeds);
      expect(Math.max(...batch.tokens)).toBeLessThan(vocabulary.length);
    }
    expect(first?.batch.episodes.map(({ success }) => success)).toEqual([false, false, false]);
    expect(last?.batch.episodes.slice(0, 3).map(({ success }) => success)).toEqual([true, true, true]);
  },
);
