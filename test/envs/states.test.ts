import { expect, test } from 'vitest';
import { parseConfig } from '../../src/config/config.ts';
import type { EnvView } from '../../src/domain/envView.ts';
import { stateBefore } from '../../src/domain/states.ts';
import { envSettings } from '../../src/envs/index.ts';
import { readDeclaration } from '../../src/written/script/declaration.ts';
import { writtenEnvironment } from '../../src/written/writtenEnvironment.ts';
import { BYTES } from '../text/bytesTokenizer.ts';
import { sandboxOf } from '../written/machine.ts';
import { NUMBERS } from '../written/numbers.ts';
import { subject, type Subject } from './checker.ts';

/** The states before each turn and after the last, of an episode with these calls. */
function statesOf({ env, settings }: Subject, seed: number, calls: readonly string[]): readonly string[] {
  const episode = env.reset(seed, settings);
  const id = (word: string) => env.vocabulary.indexOf(word);
  for (const words of calls) episode.step(`<call> ${words} </call>`.split(' ').map(id), settings);
  return Array.from({ length: calls.length + 1 }, (_, turn) => stateBefore(episode.view(), turn + 1));
}

test('number hunt: the numbers that are still possible, whatever the guesses were; a malformed turn changes nothing', () => {
  const hunt = subject('number-hunt', { range: 16, maxTurns: 6 });
  expect(statesOf(hunt, 5, ['8', '2', '15'])).toEqual(['0 to 15', '0 to 7', '3 to 7', '3 to 7']);
  expect(statesOf(hunt, 5, ['2', '8']).at(-1)).toBe('3 to 7');
  expect(statesOf(hunt, 5, ['2', '8 8']).at(-1)).toBe('3 to 15');
});

test('FrozenLake and Sokoban: where agent and box stand, also when it walked back or against the edge', () => {
  const lake = subject('frozen-lake', { slip: 0, maxTurns: 8 });
  const { view } = lake.env.reset(1, lake.settings);
  const first = view() as Extract<EnvView, { kind: 'grid' }>;
  const away = (['right', 'left', 'down', 'up'] as const).find((direction) => {
    const at = first.start + { right: 1, left: -1, down: first.size, up: -first.size }[direction];
    const stays = direction === 'right' || direction === 'left' ? Math.floor(at / first.size) === Math.floor(first.start / first.size) : true; // prettier-ignore
    return stays && first.cells[at] === 'floor';
  })!;
  const back = { right: 'left', left: 'right', down: 'up', up: 'down' }[away];
  const [start, moved, returned] = statesOf(lake, 1, [away, back]);
  expect([returned, moved === start]).toEqual([start, false]);
  const room = subject('sokoban');
  const [begun, ...rest] = statesOf(room, 2, ['left', 'right', 'up', 'down']);
  expect(begun).toMatch(/^\d+, box \d+$/);
  expect(new Set(rest).size).toBeGreaterThan(1);
});

test('searches and sums: what was found so far, as a set, so the order and repeats don’t matter', () => {
  const graph = (searched: readonly [number, number, number | null][]): EnvView => ({
    ...{ kind: 'graph', title: '', entities: [], relations: [], edges: [], gold: [], answer: 0, given: null },
    searched: searched.map(([entity, relation, to], at) => ({ turn: at + 1, entity, relation, to })),
  });
  const one = stateBefore(graph([[1, 2, 3], [4, 5, 6], [4, 5, 6], [7, 7, null]]), 5); // prettier-ignore
  expect(one).toBe(stateBefore(graph([[4, 5, 6], [1, 2, 3]]), 3)); // prettier-ignore
  expect(one).not.toBe(stateBefore(graph([[4, 5, 6], [1, 2, 3]]), 2)); // prettier-ignore
  const calculator = subject('calculator');
  const [none, ...sums] = statesOf(calculator, 1, ['0 3 + 0 4', '0 5 + 0 6', '0 3 + 0 4']);
  const [, ...others] = statesOf(calculator, 1, ['0 5 + 0 6', '0 3 + 0 4']);
  expect(none).toBe('');
  expect([sums[1], sums[2]]).toEqual([others[1], others[1]]);
  expect(sums[0]).not.toBe(others[0]);
});

test('a class of one’s own: what stateKey() returned after the call, else the answer', async () => {
  const before = async (source: string, turn: number, guesses: readonly number[]) => {
    const speaking = { chatTokenizer: BYTES, think: false };
    const env = writtenEnvironment(readDeclaration(source), await sandboxOf(source), speaking);
    const settings = envSettings(parseConfig({ language: 'text' }));
    const episode = env.reset(3, settings);
    for (const n of guesses) {
      const call = `<tool_call>\n${JSON.stringify({ name: 'guess', arguments: { n } })}\n</tool_call>`;
      episode.step([...BYTES.codec.encode(call), BYTES.codec.stops[0] ?? 0], settings);
    }
    return stateBefore(episode.view(), turn);
  };
  const keyed = NUMBERS.replace('expert()', "stateKey() { return 'guessed ' + this.last; }\n  expert()");
  expect(await before(keyed, 1, [0, 9])).toBe('');
  expect(await before(keyed, 2, [0, 9])).toBe('after guessed 0');
  expect(await before(keyed, 3, [0, 9])).toBe('after guessed 9');
  expect(await before(NUMBERS, 2, [0, 9])).toMatch(/^after (?:more|less|found)$/);
});
