import { describe, expect, it } from 'vitest';
import type { EnvView } from '../../src/domain/envView.ts';
import { expertPlay, play, type Subject, subject } from './checker.ts';

type Sum = Extract<EnvView, { kind: 'sum' }>;
function sumOf(view: EnvView): Sum {
  if (view.kind !== 'sum') throw new Error('want a sum');
  return view;
}

const SEEDS = Array.from({ length: 1000 }, (_, i) => 100 + i);
const words = ({ env }: Subject, ids: readonly number[]) => ids.map((id) => env.vocabulary[id] ?? '');
const ids = ({ env }: Subject, text: string) => text.split(' ').map((word) => env.vocabulary.indexOf(word));

/** Works `n op n op n` out from the right end, by recursion: another way round than the environments. */
function evaluate(tokens: readonly string[]): number {
  if (tokens.length === 1) return Number(tokens[0]);
  const left = evaluate(tokens.slice(0, -2));
  const right = Number(tokens.at(-1));
  const operator = tokens.at(-2);
  return operator === '×' ? left * right : operator === '+' ? left + right : left - right;
}

/** Digits joined to numbers: `4 7 + 0 5` is 47 + 5. */
const joined = (tokens: readonly string[]) => tokens.join('').split(/([-+×])/);

describe('calculator chain', () => {
  const sums = subject('calculator');

  it('asks without telling: the answer is not in the prompt, and is what the chain comes to', () => {
    for (const seed of SEEDS) {
      const episode = sums.env.reset(seed, sums.settings);
      const said = joined(words(sums, episode.prompt).slice(2, -1));
      const { wanted } = sumOf(episode.view());
      expect(evaluate(said)).toBe(wanted);
      expect(said.map(Number)).not.toContain(wanted);
      expect(wanted).toBeGreaterThanOrEqual(0);
      expect(wanted).toBeLessThan(100);
    }
  });

  it('is worked out by the expert in a call an operation and an answer, each observation being the result asked for', () => {
    for (const seed of SEEDS) {
      const { turns, actions, success, total } = expertPlay(sums, seed);
      expect(success).toBe(true);
      expect(total).toBeCloseTo(1.5, 9);
      expect(turns).toHaveLength(3);
      for (const [i, { observation }] of turns.slice(0, 2).entries()) {
        const asked = joined(words(sums, actions[i] ?? []).slice(1, -1));
        const result = `${evaluate(asked)}`.padStart(2, '0');
        expect(words(sums, observation)).toEqual(['<obs>', ...result.split(''), '</obs>']);
      }
    }
  });

  it('takes one operation more out of the domain, and says so where there is no room', () => {
    expect(expertPlay(sums, 3, sums.env.splits.shifted.reset)).toMatchObject({ success: true, turns: { length: 4 } });
    expect(sums.env.splits.shifted.doc).toMatch(/3 operations, one more/);
    expect(subject('calculator', { maxTurns: 3 }).env.splits.shifted.doc).toMatch(/3 turns leave no room/);
  });

  it('says overflow where a result has no two digits, and pays nothing for work that was not asked for', () => {
    const episode = sums.env.reset(5, sums.settings);
    const { observation, parts } = episode.step(ids(sums, '<call> 9 9 × 9 9 </call>'), sums.settings);
    expect(words(sums, observation)).toEqual(['<obs>', 'overflow', '</obs>']);
    expect(parts).toMatchObject({ outcome: 0, process: 0, format: 0 });
    expect(words(sums, episode.step(ids(sums, '<call> 0 3 - 0 4 </call>'), sums.settings).observation)[1]).toBe(
      'overflow',
    );
  });

  it('can hardly be done in the head: guessing the likeliest number is right in one task of thirty', () => {
    const counts = new Map<number, number>();
    for (const seed of SEEDS) {
      const { wanted } = sumOf(sums.env.reset(seed, sums.settings).view());
      counts.set(wanted, (counts.get(wanted) ?? 0) + 1);
    }
    expect(Math.max(...counts.values()) / SEEDS.length).toBeLessThan(1 / 30);
  });
});

describe('Countdown', () => {
  const puzzles = subject('countdown', { hops: 2 });

  /** All results of the numbers in any order under any operators. */
  function reachable(numbers: readonly number[]): Set<number> {
    if (numbers.length === 1) return new Set(numbers);
    const found = new Set<number>();
    for (const [i, last] of numbers.entries()) {
      for (const before of reachable(numbers.filter((_, j) => j !== i))) {
        for (const value of [before + last, before - last, before * last]) found.add(value);
      }
    }
    return found;
  }

  it.each([
    [3, (s: Subject) => s.env.reset],
    [4, (s: Subject) => s.env.splits.shifted.reset],
  ])('of %i numbers can be solved, as trying everything shows, and the expert does', (handed, begin) => {
    for (const seed of SEEDS.slice(0, 300)) {
      const { episode, actions, success, total } = expertPlay(puzzles, seed, begin(puzzles));
      const { task, wanted } = sumOf(episode.view());
      const numbers = task.split(', ').map(Number);
      expect(numbers).toHaveLength(handed);
      expect(reachable(numbers)).toContain(wanted);
      expect(evaluate(words(puzzles, actions[0] ?? []).slice(1, -1))).toBe(wanted);
      expect(success).toBe(true);
      expect(total).toBe(1);
    }
  });

  it('pays a tenth for the right numbers with the wrong result, and nothing for a number left out, used twice or brought along', () => {
    const { settings, env } = puzzles;
    let wrong = 0;
    for (const seed of SEEDS.slice(0, 100)) {
      const { task, wanted } = sumOf(env.reset(seed, settings).view());
      const [a = '', b = '', c = ''] = task.split(', ');
      const paid = (text: string) => {
        const { turns, success } = play(env.reset(seed, settings), settings, () =>
          ids(puzzles, `<answer> ${text} </answer>`),
        );
        return { outcome: turns[0]?.parts.outcome, success };
      };
      if (evaluate([a, '+', b, '+', c]) !== wanted) {
        wrong++;
        expect(paid(`${a} + ${b} + ${c}`)).toEqual({ outcome: 0.1, success: false });
      }
      for (const unfair of [a, `${a} + ${b}`, `${a} + ${b} + ${b} + ${c}`, `${a} + ${b} + ${c} + 0`]) {
        expect(paid(unfair)).toEqual({ outcome: 0, success: false });
      }
    }
    expect(wrong).toBeGreaterThan(50);
  });
});
