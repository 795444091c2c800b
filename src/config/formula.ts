import { baselineOf, BASELINES, canWhiten, ESTIMATORS, usesCritic } from './estimators.ts';
import type { RunConfig } from './fields.ts';
import type { TermId } from './formulaTerms.ts';

/** An occurrence of a term in a formula. */
export interface Part {
  readonly term: TermId;
  readonly pieces: readonly Piece[];
  readonly off: boolean; // true: a knob has removed the term; it is shown only to mark its place
}
/**
 * A text or a term in a formula. In texts, `_` begins a subscript and `^` an exponent; both end at a space, sign or
 * bracket, or are in braces.
 */
export type Piece = string | Part;

/** The quantity that an equation defines. A formula has at most one equation for each. */
type LineId =
  | 'reward'
  | 'score'
  | 'turns'
  | 'advantage'
  | 'whiten'
  | 'filter'
  | 'ratio'
  | 'policy'
  | 'kl'
  | 'value'
  | 'loss'
  | 'criticLoss';

/** An equation of an algorithm. */
export interface Line {
  readonly id: LineId;
  readonly pieces: readonly Piece[];
  readonly words: string; // its meaning in a few words
}

const part = (term: TermId, ...pieces: readonly Piece[]): Part => ({ term, pieces, off: false });
const partIf = (on: boolean, term: TermId, ...pieces: readonly Piece[]): Part => ({ term, pieces, off: !on });
const line = (id: LineId, words: string, ...pieces: readonly Piece[]): Line => ({ id, words, pieces });

/**
 * The KL estimators for one token, as functions of δ = log π − log π_ref. k3 is bounded as in verl; above the bound its
 * gradient is 0.
 */
export const KL_FORMULAS: Readonly<Record<RunConfig['klEstimator'], string>> = {
  k1: 'δ',
  k2: '½δ²',
  k3: 'min(e^−δ − 1 + δ, 10)',
};

/** The definition of δ in KL_FORMULAS. */
export const KL_DELTA = 'δ = log π − log π_ref';
/** The critic's target R at a token. A is the advantage before whitening. */
const RETURN = 'R = A + V_old';

/**
 * The formula for the push that the policy loss of a token gives that token. `src/ui/rollout/Inspector.tsx` shows it
 * with numbers. In a mean over n tokens, the weight is 1/n.
 */
export function pushFormula({ surrogate }: Pick<RunConfig, 'surrogate'>): string {
  return `push = −∂L/∂log π = A${surrogate === 'plain' ? '' : '·ρ'}·weight in the loss`;
}

/**
 * The means and sums to write before and after the loss of a token. b runs over rollouts, m over the tokens of the
 * mask.
 */
const AGGREGATIONS: Readonly<Record<RunConfig['aggregation'], readonly [before: string, behind: string]>> = {
  'token-mean': ['mean_m ', ''],
  'seq-mean-token-sum': ['mean_b Σ_m ', ''],
  'seq-mean-token-mean': ['mean_b mean_m ', ''],
  'seq-mean-token-sum-norm': ['mean_b Σ_m ', ' / T'],
};

/**
 * The equations of a configuration's algorithm, from rewards to the loss, as computed by `src/rl/credit.ts`,
 * `src/rl/advantages.ts` and `src/rl/objective.ts`. A′ and V′ belong to the row's next token inside the advantage mask
 * and are 0 after the last one. A term that is missing because a knob is 0 or off is included with `off`. A term that
 * the estimator or the surrogate doesn't have is left out.
 */
export function formulaOf(c: RunConfig): readonly Line[] {
  return [...creditLines(c), ...filterLines(c), ...policyLines(c), ...lossLines(c)];
}

function creditLines(c: RunConfig): Line[] {
  const { core, critic } = ESTIMATORS[c.estimator];
  const paysKl = partIf(c.klRewardCoef > 0, 'klReward', ` − β_r·${c.klRewardEstimator}(π_old, π_ref)`);
  const reward = line('reward', 'reward of a token', 'r = ', part('paid', 'r_env'), paysKl);
  const [gamma, lambda] = [part('gamma', 'γ'), part('lambda', 'λ')];
  const A = part('advantage', 'A');
  const values = (now: string, next: string) => [part('critic', next), ' − ', part('critic', now)];
  const whitening = canWhiten(c.estimator)
    ? [
        line(
          'whiten',
          'advantages are whitened',
          ...['A ← ', partIf(c.whiten === 'on', 'whiten', '(A − mean_m A) / √(var_m A + 10⁻⁸)')],
          partIf(c.whiten === 'on' && c.remask === 'on', 'remask', '·m_A'),
        ),
      ]
    : [];
  if (core === 'group') {
    const over = partIf(c.divideByStd === 'on', 'spread', ' / (std S + 10⁻⁶)');
    const bare = ['S − ', part('baseline', BASELINES[baselineOf(c.estimator, false)].symbol)];
    const divides = ESTIMATORS[c.estimator].divides === true;
    return [
      reward,
      line('score', 'score of a rollout', 'S = ', part('score', 'Σ_m r')),
      line('advantage', 'advantage of its tokens', A, ' = ', ...(divides ? ['(', ...bare, ')', over] : bare)),
      ...whitening,
    ];
  }
  if (core === 'turns') {
    const turn = part('turnGamma', 'γ_turn');
    return [
      reward,
      line(
        'turns',
        'from turn to turn: r is the reward at turn i’s last token, p the rewards before it in the turn',
        ...['A_i = r_i + ', turn, '·(p_{i+1} + ', part('critic', 'V_{i+1}'), ') − ', part('critic', 'V_i')],
        ...[' + ', turn, '·', lambda, '·A_{i+1}'],
      ),
      line(
        'advantage',
        'inside turn i, where A_i + V_i stands for the reward at its end',
        ...[A, ' = r + ', gamma, '·', ...values('V', 'V′'), ' + ', gamma, '·', lambda, '·A′'],
      ),
      ...whitening,
    ];
  }
  const steps = critic
    ? ['r + ', gamma, '·', ...values('V', 'V′'), ' + ', gamma, '·', lambda, '·A′']
    : ['r + ', gamma, '·A′'];
  return [reward, line('advantage', 'advantage, from token to token', A, ' = ', ...steps), ...whitening];
}

function filterLines(c: RunConfig): Line[] {
  if (c.filter === 'none') return [];
  const by = { none: 'kept share', linear: 'kept share', sqrt: '√kept share' }[c.filterScaling];
  const kept = part('kept', `in prompts kept by ${c.filter}`);
  return [
    line('filter', 'the group filter', 'A ← A', partIf(c.filterScaling !== 'none', 'scale', `·${by}`), ', ', kept),
  ];
}

function policyLines(c: RunConfig): Line[] {
  const loss = part('surrogate', 'ℓ');
  if (c.surrogate === 'plain')
    return [line('policy', 'policy loss of a token', loss, ' = −A·', part('ratio', 'log π'))];
  const ratio = part('ratio', 'ρ');
  const [low, high] = [part('clipLow', '1 − ε₋'), part('clipHigh', '1 + ε₊')];
  return [
    line('ratio', 'ratio', ratio, ' = π / π_old'),
    line(
      'policy',
      'policy loss of a token',
      ...[loss, ' = max(−A·', ratio, ', −A·clip(', ratio, ', ', low, ', ', high, '))'],
      partIf(c.dualClip > 0, 'dualClip', '; if A < 0, at most −A·c'),
    ),
  ];
}

function lossLines(c: RunConfig): Line[] {
  const [before, behind] = AGGREGATIONS[c.aggregation];
  const mean = part('aggregation', before);
  const over = (loss: Piece) => [mean, loss, ...(behind ? [part('aggregation', behind)] : [])];
  const entropy = partIf(c.entropyCoef > 0, 'entropy', ' − c_H·', ...over('H'));
  const kl = partIf(c.klCoef > 0, 'kl', ' + β·', ...over(c.klEstimator));
  const estimate = partIf(c.klCoef > 0, 'kl', `${c.klEstimator} = ${KL_FORMULAS[c.klEstimator]}, ${KL_DELTA}`);
  const critic = usesCritic(c.estimator);
  const apart = c.critic === 'separate';
  const weighed = partIf(apart || c.valueCoef > 0, 'value', ...(apart ? [] : [' + c_V·']), ...over('ℓ_V'));
  const value = line(
    'value',
    'value loss of a token, R its return',
    ...[part('value', 'ℓ_V'), ' = ½·max((V − R)², (', part('valueClip', 'clip(V, V_old ± ε_V)'), ' − R)²)'],
    `, ${RETURN}`,
  );
  return [
    line('kl', 'estimate of KL at a token', estimate),
    ...(critic ? [value] : []),
    line('loss', 'loss', 'L = ', ...over(part('surrogate', 'ℓ')), entropy, kl, ...(critic && !apart ? [weighed] : [])),
    ...(critic && apart ? [line('criticLoss', 'loss of the critic, a network of its own', 'L_V = ', weighed)] : []),
  ];
}

/** Symbols in formulas that aren't terms, each with its explanation. */
const SIGNS: readonly (readonly [RegExp, string])[] = [
  [/_m\b/, 'm: tokens that the masks keep'],
  [/_b\b/, 'b: rollouts'],
  [/_i\b/, 'i: turns'],
  [/′/, '′: at the next token'],
  [/π_old/, 'π_{old}: the policy that drew the rollouts'],
  [/π_ref/, 'π_{ref}: the policy before RL'],
  [/k1\(/, 'k1 = log π_old − log π_ref'],
];

/** Explanations of the symbols in some equations, in one line. */
export function signsOf(lines: readonly Line[]): string {
  const text = lines.map(({ pieces }) => written(pieces)).join(' ');
  return SIGNS.flatMap(([sign, explanation]) => (sign.test(text) ? [explanation] : [])).join(' · ');
}

/** A formula as one line of text, with the `_` and `^` signs. */
export function written(pieces: readonly Piece[]): string {
  return pieces.map((piece) => (typeof piece === 'string' ? piece : written(piece.pieces))).join('');
}

/** One equation of a configuration as text. Throws if its algorithm doesn't have this equation. */
export function equation(id: LineId, c: RunConfig): string {
  const found = formulaOf(c).find((each) => each.id === id);
  if (!found) throw new Error(`equation: the formula of ${c.estimator} has no line ${id}.`);
  return written(found.pieces);
}
