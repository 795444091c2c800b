import { describe, expect, test } from 'vitest';
import { ALGORITHM_NAMES, ALGORITHMS } from '../../src/config/algorithms.ts';
import { DEFAULTS, type RunConfig } from '../../src/config/fields.ts';
import { TERM_LIST, type TermId, type TokenSet } from '../../src/config/formulaTerms.ts';
import type { BatchView } from '../../src/domain/batch.ts';
import type { EnvView } from '../../src/domain/envView.ts';
import { Role } from '../../src/domain/tokens.ts';
import { creditOf } from '../../src/rl/lesson.ts';
import { creditSettings } from '../../src/rl/settings.ts';
import { tokenMarks, combinedMarks, countMarks } from '../../src/page/rollout/touchedTokens.ts';
import { TokenMark } from '../../src/page/rollout/mark.ts';
import { example } from './example.ts';

/** Two rows of a hand-made batch, p prompt, a the agent's, s its choices of one, o the environment's; the third was filtered out. */
const ROWS = ['ppasaooasa..', 'ppsaoosaooa.', 'ppaaooaa....'];
const LENGTH = 12;
const size = ROWS.length * LENGTH;
const letters = ROWS.join('');
const at = (is: (letter: string, i: number) => boolean) =>
  Uint8Array.from(letters, (letter, i) => (is(letter, i) ? 1 : 0));
const batch: BatchView = {
  ...example,
  ...{ rows: ROWS.length, length: LENGTH, kept: Uint8Array.of(1, 1, 0) },
  roles: Uint8Array.from(
    letters,
    (letter) => ({ p: Role.prompt, o: Role.observation, '.': Role.pad })[letter] ?? Role.action,
  ),
  singles: at((letter) => letter === 's'),
  episodes: example.episodes.slice(0, 3).map((episode, row) => ({ ...episode, row, group: row === 1 ? 1 : 0 })),
  rewards: Float32Array.from(letters, (_, i) => (i === 9 ? 1 : i === 22 ? -0.5 : 0)),
  ...{ values: new Float32Array(size), logprobs: new Float32Array(size).fill(-1) },
  refLogprobs: new Float32Array(size).fill(-1.5),
};
const base: RunConfig = { ...DEFAULTS, estimator: 'gae', critic: 'shared' };
const marks = (set: TokenSet, config: RunConfig = base, row = 0) => [...tokenMarks({ batch, config, row }, set)];
const text = (set: TokenSet, config: RunConfig = base, row = 0) =>
  marks(set, config, row)
    .map((mark) => (mark === 0 ? '.' : '#'))
    .join('');

describe('the tokens a term touches', () => {
  test('on a hand-worked batch: masks on, off, and without choices of one', () => {
    expect(text('policy')).toBe('..###..###..' + '..##..##..#.' + '............');
    expect(text('policy', { ...base, lossMask: 'off' })).toBe('..########..' + '..#########.' + '............');
    expect(text('policy', { ...base, choiceMask: 'on' })).toBe('..#.#..#.#..' + '...#...#..#.' + '............');
    expect(text('turnEnds')).toBe('....#....#..' + '...#...#..#.' + '............');
    expect(text('outside')).toBe('.....##.....' + '....##..##..' + '............');
    expect(text('paid')).toBe('.........#..' + '..........#.' + '............');
    expect(text('group')).toBe('..###..###..' + '............' + '............');
    expect(text('group', base, 1)).toBe('............' + '..##..##..#.' + '............');
    expect(text('value', { ...base, estimator: 'grpo' })).not.toContain('#');
  });

  test('of the state’s baseline: all turns of the task that began as another one did', () => {
    const hunt = (answer: 'higher' | 'lower'): EnvView => ({
      ...{ kind: 'number-line', range: 8, target: 3 },
      guesses: [{ turn: 1, value: 4, answer }],
    });
    const turns = Uint8Array.from('001111122222' + '001111222233' + '001111222222', Number);
    const lit = (answers: readonly ('higher' | 'lower')[], groups: readonly number[]) => {
      const episodes = batch.episodes.map((each, row) => ({
        ...each,
        ...{ group: groups[row]!, view: hunt(answers[row] ?? 'lower') },
      }));
      const input = { batch: { ...batch, turns, episodes }, config: { ...base, estimator: 'gigpo' as const }, row: 0 };
      return [...tokenMarks(input, 'sameState')].map((mark) => (mark === 0 ? '.' : '#')).join('');
    };
    // both begin alike; then they part, and the other one's third turn changes nothing; or they don't part
    expect(lit(['lower', 'higher'], [0, 0, 0])).toBe('..###.......' + '..##..##..#.' + '............');
    expect(lit(['lower', 'lower'], [0, 0, 0])).toBe('..###..###..' + '..##..##..#.' + '............');
    expect(lit(['lower', 'lower'], [0, 1, 0])).not.toContain('#'); // of another task
  });

  test.each(ALGORITHM_NAMES)('%s: they are the trainer’s masks, whatever the switches', (name) => {
    const named: RunConfig = { ...DEFAULTS, ...ALGORITHMS[name].set, critic: 'shared', klRewardCoef: 0.5 };
    const switched: readonly Partial<RunConfig>[] = [
      {},
      { lossMask: 'off' },
      { advantageMask: 'off' },
      { lossMask: 'off', advantageMask: 'off', choiceMask: 'on' },
      { policyTokens: 'off', whitenTokens: 'off', valueTokens: 'on', klRewardTokens: 'off', regularizerTokens: 'on' },
    ];
    // drawn with other probabilities than the learner's: some tokens or rollouts are rejected
    const sampledLogprobs = new Float32Array(size).fill(-1);
    sampledLogprobs.set([-2, -0.1, -1.9], 2);
    const drawn = { ...batch, sampledLogprobs };
    const rejected: readonly Partial<RunConfig>[] = [
      { correction: 'rejected', lossMask: 'off' },
      { correction: 'rejected', correctionLevel: 'sequence', correctionHigh: 1.1 },
    ];
    for (const set of [...switched, ...rejected]) {
      const config = { ...named, ...set };
      const { masks, rewards } = creditOf(drawn, creditSettings(config, config.klRewardCoef, 1));
      const shown = { ...drawn, lossMask: masks.policy };
      const marks = (tokens: TokenSet, by: RunConfig) => [...tokenMarks({ batch: shown, config: by, row: 0 }, tokens)];
      if (set.correction) {
        const all = creditOf(drawn, creditSettings({ ...config, correction: 'none' }, 0, 1)).masks.policy;
        const count = (mask: Float32Array) => mask.filter((m) => m !== 0).length;
        expect(count(masks.policy)).toBeLessThan(count(all));
      }
      for (const [part, tokens] of [
        ['policy', 'policy'],
        ['regularizer', 'regularizer'],
        ['value', 'value'],
        ['advantage', 'advantage'],
        ['whiten', 'whiten'],
      ] as const) {
        expect(marks(tokens, config), `${part} ${JSON.stringify(set)}`).toEqual([...masks[part]]);
      }
      // δ is ½ everywhere, so who pays for KL is whose reward is another
      const pays = [...rewards].map((reward, i) => (Math.abs(reward - batch.rewards[i]!) > 1e-9 ? 1 : 0));
      expect(marks('klReward', config), JSON.stringify(set)).toEqual(pays);
    }
  });

  test('the clip’s are those that a kept pass held, on the side on which their ratio had moved', () => {
    const inLoss = Float32Array.from(tokenMarks({ batch, config: base, row: 0 }, 'policy'));
    const held = [3, 14]; // one of A above 0, one below
    const advantages = Float32Array.from(inLoss, (m, i) => (m === 0 ? 0 : i < LENGTH ? 1 : -1));
    const policyWeights = advantages.map((a, i) => (held.includes(i) ? 0 : -a / 10));
    const shares = new Float32Array(3).fill(0.1);
    const first = { epoch: 1, gradWeights: advantages, policyWeights: advantages.map((a) => -a / 10), shares };
    const learned = {
      ...batch,
      lossMask: inLoss,
      advantages,
      policyWeights,
      epochViews: [first, { ...first, policyWeights }],
    };
    const scene = { batch: learned, config: base, row: 0 };
    expect(tokenMarks(scene, 'clippedHigh').indexOf(TokenMark.clippedHigh)).toBe(3);
    expect(tokenMarks(scene, 'clippedLow').indexOf(TokenMark.clippedLow)).toBe(14);
    const both = combinedMarks(scene, ['policy', 'clippedHigh', 'clippedLow']);
    expect(countMarks(both, scene.batch, 0)).toEqual({
      inBatch: 11,
      groupCount: 2,
      inRow: 6,
      clippedHigh: 1,
      clippedLow: 1,
    });
    const own = combinedMarks(scene, ['group']);
    expect(countMarks(own, scene.batch, 1)).toEqual({
      inBatch: 6,
      groupCount: 1,
      inRow: 0,
      clippedHigh: 0,
      clippedLow: 0,
    }); // of row 0's group
  });
});

test('every term names tokens that some batch has', () => {
  const config: RunConfig = { ...base, klRewardCoef: 0.1, klCoef: 0.1 };
  const bodies = batch.roles.map((role) => (role === Role.observation ? 1 : 0));
  const scene = { batch: { ...batch, bodies, advantages: new Float32Array(size) }, config, row: 0 };
  const bare = (Object.keys(TERM_LIST) as TermId[]).filter((term) =>
    tokenMarks(scene, TERM_LIST[term].tokens).every((mark) => mark === TokenMark.none),
  );
  // no two turns of this batch began in the same state, and no token has an advantage
  expect(bare).toEqual(['sameState', 'stateWeight', 'clipLow', 'clipHigh', 'dualClip']);
});
