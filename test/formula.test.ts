import { describe, expect, test } from 'vitest';
import { ALGORITHM_NAMES, ALGORITHMS } from '../src/config/algorithms.ts';
import { DEFAULTS, type FieldName, FIELDS, type RunConfig } from '../src/config/fields.ts';
import { usesCritic } from '../src/config/estimators.ts';
import { formulaOf, type Piece, symbolsText, formulaText } from '../src/config/formula.ts';
import { knobsOf, termsOf } from '../src/config/formulaLinks.ts';
import { TERM_LIST, type TermId } from '../src/config/formulaTerms.ts';
import { whyIdle } from '../src/config/idle.ts';

const configs: readonly (readonly [string, RunConfig])[] = ALGORITHM_NAMES.flatMap((name) => {
  const base: RunConfig = { ...DEFAULTS, ...ALGORITHMS[name].set };
  const shaped: readonly (readonly [string, Partial<RunConfig>])[] = [
    ['as named', {}],
    ['with KL everywhere', { klCoef: 0.1, klRewardCoef: 0.1, klTarget: 0.1, entropyCoef: 0.01 }],
    ['with both masks off', { lossMask: 'off', advantageMask: 'off', lambda: 0.9, gamma: 0.9 }],
    [
      'with places of their own',
      { policyTokens: 'off', advantageTokens: 'on', regularizerTokens: 'on', remask: 'off' },
    ],
    ['off-policy, per token', { correction: 'masked' }],
    ['off-policy, per rollout', { correction: 'truncated', correctionLevel: 'sequence' }],
    ['with rejected rollouts', { correction: 'rejected', correctionLevel: 'sequence', policyTokens: 'off' }],
    ['with a teacher', { teacher: 'start', teacherCoef: 0.5 }],
    ['with observations predicted, and one turn trained', { observationLoss: 0.05, trainTurns: 'last' }],
    ['over whole turns', { estimator: 'turn-gae', critic: 'separate', lambda: 0.9 }],
    ['over turns', { estimator: 'bi-level-gae', critic: 'separate', criticWarmup: 3 }],
    ['without whitening or bonus', { whiten: 'off', entropyCoef: 0, aggregation: 'seq-mean-token-sum-norm' }],
  ];
  return shaped.map(([what, set]) => [`${name} ${what}`, { ...base, ...set }] as const);
});
const KNOBS = Object.keys(FIELDS) as FieldName[];
const lines = (c: RunConfig) => formulaOf(c).map(({ pieces }) => formulaText(pieces));
const offs = (pieces: readonly Piece[]): TermId[] =>
  pieces.flatMap((piece) =>
    typeof piece === 'string' ? [] : [...(piece.isOff ? [piece.term] : []), ...offs(piece.pieces)],
  );

test.each(configs)('%s: a knob of the objective or the masks lights a term exactly where it does something', (_, c) => {
  const judged = KNOBS.filter((name) => ['objective', 'masks', 'expert'].includes(FIELDS[name].group));
  // a critic that the estimator does not ask is a network, not a term
  const rests = (name: FieldName) => !usesCritic(c.estimator) && (name === 'critic' || name === 'criticWarmup');
  expect(judged.length).toBeGreaterThan(30);
  for (const name of judged) {
    expect(termsOf(name, c).length > 0, name).toBe(whyIdle(name, c) === null && !rests(name));
  }
});

test.each(configs)('%s: a term is lit by just the knobs that it lights', (_, c) => {
  const present = new Set(KNOBS.flatMap((knob) => termsOf(knob, c)));
  expect(present.size).toBeGreaterThan(5);
  for (const term of present) {
    const lit = KNOBS.filter((knob) => termsOf(knob, c).includes(term));
    expect(new Set(knobsOf(term, c))).toEqual(new Set(lit));
  }
});

test('every term stands in the formula of some configuration', () => {
  const seen = new Set(configs.flatMap(([, c]) => KNOBS.flatMap((knob) => termsOf(knob, c))));
  expect(Object.keys(TERM_LIST).filter((term) => !seen.has(term as TermId))).toEqual([]);
});

test('a sign without a term of its own is explained where it stands, and nowhere else', () => {
  const signs = (name: keyof typeof ALGORITHMS, set: Partial<RunConfig> = {}) =>
    symbolsText(formulaOf({ ...DEFAULTS, ...ALGORITHMS[name].set, ...set }));
  expect(
    signs('grpo')
      .split(' · ')
      .map((each) => each.split(/:? /)[0]),
  ).toEqual(['m', 'o', 'q', 'π_{old}', 'π_{ref}', 'k1']);
  expect(signs('ppo')).toContain('′: at the next token');
  expect(signs('grpo', { aggregation: 'seq-mean-token-mean' })).toContain('b: rollouts');
});

describe('the formula of an algorithm is what the trainer computes', () => {
  test('GRPO as the default has it: group score, clip, entropy bonus, no KL', () => {
    const c: RunConfig = { ...DEFAULTS, ...ALGORITHMS.grpo.set };
    expect(lines(c)).toEqual([
      'r = r_env − β_r·k1(π_old, π_ref)',
      'S = Σ_m r',
      'A = (S − mean S) / (std S + 10⁻⁶)',
      'ρ = π / π_old',
      'ℓ = max(−A·ρ, −A·clip(ρ, 1 − ε₋, 1 + ε₊)); if A < 0, at most −A·c',
      'k3 = min(e^−δ − 1 + δ, 10), δ = log π − log π_ref',
      'L = mean_m w·ℓ − c_H·mean_m H + β·mean_m k3 + λ_o·mean_o(−log π) + λ_q·mean_q KL(π ‖ q)',
    ]);
    const off = ['klReward', 'kl', 'correction', 'kl', 'observation', 'teacher'];
    expect(formulaOf(c).flatMap(({ pieces }) => offs(pieces))).toEqual(off);
  });

  test('PPO: GAE, whitening and the value loss; a separate critic has a loss of its own', () => {
    const c: RunConfig = { ...DEFAULTS, ...ALGORITHMS.ppo.set };
    expect(lines(c)).toContain('A = r + γ·V′ − V + γ·λ·A′');
    expect(lines(c)).toContain('A ← (A − mean_m A) / √(var_m A + 10⁻⁸)·m_A');
    expect(lines(c).at(-1)).toBe(
      'L = mean_m w·ℓ − c_H·mean_m H + β·mean_m k3 + λ_o·mean_o(−log π) + λ_q·mean_q KL(π ‖ q) + c_V·mean_m ℓ_V',
    );
    expect(lines({ ...c, critic: 'separate' }).slice(-2)).toEqual([
      'L = mean_m w·ℓ − c_H·mean_m H + β·mean_m k3 + λ_o·mean_o(−log π) + λ_q·mean_q KL(π ‖ q)',
      'L_V = mean_m ℓ_V',
    ]);
  });

  test.each([
    [
      'dr-grpo',
      [
        'A = (S − mean S) / (std S + 10⁻⁶)',
        'L = mean_b Σ_m w·ℓ / T − c_H·mean_b Σ_m H / T + β·mean_b Σ_m k3 / T + λ_o·mean_o(−log π) + λ_q·mean_q KL(π ‖ q)',
      ],
    ],
    ['rloo', ['A = S − mean S of the others']],
    ['reinforce', ['A = r + γ·A′', 'ℓ = −A·log π']],
    ['reinforce++-baseline', ['A = S − mean S', 'k2 = ½δ², δ = log π − log π_ref']],
    ['rft', ['A = 1 if solved, else 0', 'ℓ = −A·log π']],
    ['starpo-s', ['A ← A·kept share, in prompts kept by top-fraction']],
  ] as const)('%s has %o', (name, some) => {
    const all = lines({ ...DEFAULTS, ...ALGORITHMS[name].set });
    for (const each of some) expect(all).toContain(each);
  });

  test('an off-policy correction weighs tokens by their ratio, or rejects them, and π_drawn is explained', () => {
    const formula = (set: Partial<RunConfig>) => {
      const c: RunConfig = { ...DEFAULTS, ...ALGORITHMS.grpo.set, ...set };
      return {
        all: lines(c),
        off: formulaOf(c).flatMap(({ pieces }) => offs(pieces)),
        signs: symbolsText(formulaOf(c)),
      };
    };
    const weighed = formula({ correction: 'masked' });
    expect(weighed.all).toContain('q = π_old / π_drawn; w = q where c₋ ≤ q ≤ c₊, else 0');
    expect(weighed.off).not.toContain('correction');
    expect(weighed.signs).toContain('π_{drawn}: what drew the rollouts');
    const rejected = formula({ correction: 'rejected', correctionLevel: 'sequence' });
    expect(rejected.all).toContain('q = exp(mean_m log(π_old / π_drawn)); not in the losses where q < c₋ or q > c₊');
    expect(rejected.off).toContain('correction'); // no w
    expect(formula({ correction: 'truncated', correctionLevel: 'sequence' }).all).toContain(
      'q = Π_m π_old / π_drawn; w = min(q, c₊)',
    );
  });

  test('GAE over whole turns: turns in place of tokens, in whitening too', () => {
    const c: RunConfig = { ...DEFAULTS, ...ALGORITHMS.ppo.set, estimator: 'turn-gae' };
    expect(lines(c)).toContain('A_i = r_i + γ_turn·V_{i+1} − V_i + γ_turn·λ·A_{i+1}');
    expect(lines(c)).toContain('A ← (A − mean_i A) / √(var_i A + 10⁻⁸)·m_A');
  });

  test('GiGPO: the score of a rollout and the return of a turn, each without its baseline', () => {
    const c: RunConfig = { ...DEFAULTS, ...ALGORITHMS.gigpo.set };
    expect(lines(c)).toContain('R_i = r_i + γ_turn·R_{i+1}');
    expect(lines({ ...c, divideByStd: 'on' })).toContain(
      'A = (S − mean S) / (std S + 10⁻⁶) + ω·(R_i − mean_s R) / (std_s R + 10⁻⁶)',
    );
    expect(lines({ ...c, ...ALGORITHMS['mt-grpo'].set })).toContain(
      'A_i = (r_i − mean_s r) / (std_s r + 10⁻⁶) + γ_turn·A_{i+1}',
    );
    expect(lines({ ...c, ...ALGORITHMS['turn-baseline'].set })).toContain('A = (R_i − mean_s R) / (std_s R + 10⁻⁶)');
    const credit = { ...c, ...ALGORITHMS['turn-credit'].set };
    expect(lines(credit)).toContain('C_i = d_i / W_i + γ_turn·C_{i+1}');
    expect(lines(credit)).toContain('A = (S − mean S) / (std S + 10⁻⁶) + ω·(C_i − mean_m C)');
    expect(termsOf('processReward', credit)).toEqual(['paid', 'progress']);
    expect(termsOf('stateWeight', c)).toEqual(['stateWeight']);
    expect(termsOf('groupSize', c)).toEqual(['baseline', 'spread', 'sameState']);
  });

  test('with a training row for each turn, means over sequences are over turns', () => {
    const c: RunConfig = { ...DEFAULTS, ...ALGORITHMS['dr-grpo'].set, rows: 'turn' };
    expect(lines(c).at(-1)).toMatch(/^L = mean_i Σ_m w·ℓ \/ T/);
  });

  test('Dr. GRPO divides by nothing: the spread is there, but off', () => {
    const c: RunConfig = { ...DEFAULTS, ...ALGORITHMS['dr-grpo'].set };
    expect(formulaOf(c).flatMap(({ pieces }) => offs(pieces))).toContain('spread');
    expect(termsOf('divideByStd', c)).toEqual(['spread']);
    expect(termsOf('groupSize', c)).toEqual(['baseline', 'spread']);
  });
});
