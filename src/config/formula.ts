import { baselineOf, BASELINES, canWhiten, comparesTurns, ESTIMATORS, usesCritic } from './estimators.ts';
import type { RunConfig } from './fields.ts';
import { agentOnly } from './masks.ts';
import type { TermId } from './formulaTerms.ts';

/** A term as it stands in a formula: its id, and what is written for it. */
export interface Part {
  readonly term: TermId;
  readonly pieces: readonly Piece[];
  readonly isOff: boolean; // true: a knob has removed the term; it is shown only to mark its place
}
/** In texts, `_` begins a subscript and `^` an exponent. Each ends at a space, a sign or a bracket, or is in braces. */
export type Piece = string | Part;

/** The quantity that an equation defines. A formula has at most one equation for each. */
type EquationId =
  | 'reward'
  | 'score'
  | 'turns'
  | 'advantage'
  | 'whiten'
  | 'filter'
  | 'correction'
  | 'ratio'
  | 'policy'
  | 'kl'
  | 'value'
  | 'loss'
  | 'criticLoss';

export interface FormulaEquation {
  readonly id: EquationId;
  readonly pieces: readonly Piece[];
  readonly meaning: string; // its meaning in a few words
}

const part = (term: TermId, ...pieces: readonly Piece[]): Part => ({ term, pieces, isOff: false });
const partIf = (on: boolean, term: TermId, ...pieces: readonly Piece[]): Part => ({ term, pieces, isOff: !on });
const equationOf = (id: EquationId, meaning: string, ...pieces: readonly Piece[]): FormulaEquation => ({
  id,
  meaning,
  pieces,
});

/** Functions of δ = log π − log π_ref for one token. k3 is bounded as in verl; above the bound its gradient is 0. */
export const KL_FORMULAS: Readonly<Record<RunConfig['klEstimator'], string>> = {
  k1: 'δ',
  k2: '½δ²',
  k3: 'min(e^−δ − 1 + δ, 10)',
};

/** The definition of δ in KL_FORMULAS. */
export const KL_DELTA = 'δ = log π − log π_ref';
/** The critic's target R at a token. A is the advantage before whitening. */
const RETURN_FORMULA = 'R = A + V_old';

/**
 * The formula for the push that the policy loss of a token gives that token. `src/ui/run/Inspector.tsx` shows it
 * with numbers. In a mean over n tokens, the weight is 1/n.
 */
export function pushFormula({ surrogate, correction }: Pick<RunConfig, 'surrogate' | 'correction'>): string {
  const weight = weighsTokens(correction) ? '·w' : '';
  return `push = −∂L/∂log π = A${PUSH_FACTORS[surrogate]}${weight}·weight in the loss`;
}

/** Whether an off-policy correction multiplies the loss of tokens by a weight w. */
const weighsTokens = (correction: RunConfig['correction']) => correction === 'truncated' || correction === 'masked';

/** What the push of a token that isn't clipped away is multiplied by. */
const PUSH_FACTORS: Readonly<Record<RunConfig['surrogate'], string>> = {
  clipped: '·ρ',
  gspo: '·s',
  cispo: '·clip(ρ)',
  'dppo-tv': '·min(ρ, c)',
  plain: '',
};

/** Written before and after the loss of a token. b runs over rollouts, i over turns, m over the tokens of the mask. */
const AGGREGATIONS: Readonly<Record<RunConfig['aggregation'], readonly [before: string, behind: string]>> = {
  'token-mean': ['mean_m ', ''],
  'seq-mean-token-sum': ['mean_b Σ_m ', ''],
  'seq-mean-token-mean': ['mean_b mean_m ', ''],
  'seq-mean-token-sum-norm': ['mean_b Σ_m ', ' / T'],
};

/**
 * The equations of a configuration's algorithm, from rewards to the loss, as computed by `src/rl/credit.ts`,
 * `src/rl/advantages.ts` and `src/rl/objective.ts`. A′ and V′ belong to the row's next token inside the advantage mask
 * and are 0 after the last one. A term that is missing because a knob is 0 or off is included with `isOff`. A term that
 * the estimator or the surrogate doesn't have is left out.
 */
export function formulaOf(c: RunConfig): readonly FormulaEquation[] {
  return [
    ...creditEquations(c),
    ...filterEquations(c),
    ...correctionEquations(c),
    ...policyEquations(c),
    ...lossEquations(c),
  ];
}

function creditEquations(c: RunConfig): FormulaEquation[] {
  const { advantageKind, critic } = ESTIMATORS[c.estimator];
  const klPenalty = partIf(c.klRewardCoef > 0, 'klReward', ` − β_r·${c.klRewardEstimator}(π_old, π_ref)`);
  const reward = equationOf('reward', 'reward of a token', 'r = ', part('paid', 'r_env'), klPenalty);
  const [gamma, lambda] = [part('gamma', 'γ'), part('lambda', 'λ')];
  const A = part('advantage', 'A');
  const over = advantageKind === 'whole-turns' ? 'i' : 'm'; // what whitening counts
  const values = (now: string, next: string) => [part('critic', next), ' − ', part('critic', now)];
  const whitening = canWhiten(c.estimator)
    ? [
        equationOf(
          'whiten',
          'advantages are whitened',
          ...['A ← ', partIf(c.whiten === 'on', 'whiten', `(A − mean_${over} A) / √(var_${over} A + 10⁻⁸)`)],
          partIf(c.whiten === 'on' && c.remask === 'on', 'remask', '·m_A'),
        ),
      ]
    : [];
  if (advantageKind === 'none') return [equationOf('advantage', 'advantage: no reward teaches', A, ' = 0')];
  if (advantageKind === 'success')
    return [equationOf('advantage', 'advantage: the agent imitates rollouts that solved their task', A, ' = ', part('solved', '1 if solved, else 0'))]; // prettier-ignore
  if (advantageKind === 'group' || advantageKind === 'group-turns') {
    const turn = part('turnGamma', 'γ_turn');
    const dividedByStd = partIf(c.divideByStd === 'on', 'spread', ' / (std S + 10⁻⁶)');
    const minusBaseline = ['S − ', part('baseline', BASELINES[baselineOf(c.estimator, false)].symbol)];
    const divisor = ESTIMATORS[c.estimator].dividesByStd
      ? dividedByStd
      : baselineOf(c.estimator, false) === 'mean-over-mean' && part('baseline', ' / (mean S + 10⁻⁶)');
    const ofRollout = divisor ? ['(', ...minusBaseline, ')', divisor] : minusBaseline;
    const score = equationOf('score', 'score of a rollout', 'S = ', part('score', 'Σ_m r'));
    const like = comparesTurns(c.estimator);
    if (like) {
      const what = like.in === 'return' ? 'R' : 'r';
      const spread = partIf(c.divideByStd === 'on', 'spread', ` / (std_s ${what} + 10⁻⁶)`);
      const ofTurn = [`(${what}_i − `, part('sameState', `mean_s ${what}`), ')', spread];
      const peers = like.same === 'state' ? 'that began in the same state' : 'with the same number';
      const returns = equationOf(
        'turns',
        'return of turn i, r_i the sum of its rewards',
        'R_i = r_i + ',
        turn,
        '·R_{i+1}',
      );
      const advantage = like.besideScore
        ? [...ofRollout, partIf(c.stateWeight > 0, 'stateWeight', ' + ω·', ...ofTurn)]
        : [...ofTurn, ...(like.in === 'reward' ? [' + ', turn, '·A_{i+1}'] : [])];
      return [
        reward,
        ...(like.besideScore ? [score] : []),
        ...(like.in === 'return' ? [returns] : []),
        equationOf(
          'advantage',
          `advantage of all tokens of turn i; s: the turns of the group ${peers}${like.in === 'reward' ? '; r_i: the sum of its rewards' : ''}`,
          ...[A, like.in === 'reward' ? '_i = ' : ' = ', ...advantage],
        ),
      ];
    }
    if (ESTIMATORS[c.estimator].sharesProgress)
      return [
        reward,
        score,
        equationOf(
          'turns',
          'credit of turn i for its progress d_i and that of later turns; W_i = 1 + γ_turn + … + γ_turn^{i−1}',
          ...['C_i = ', part('progress', 'd_i'), ' / W_i + ', turn, '·C_{i+1}'],
        ),
        equationOf(
          'advantage',
          'advantage of all tokens of turn i; the mean is over the tokens of the rollout',
          ...[A, ' = ', ...ofRollout, partIf(c.stateWeight > 0, 'stateWeight', ' + ω·(C_i − mean_m C)')],
        ),
      ];
    return [reward, score, equationOf('advantage', 'advantage of its tokens', A, ' = ', ...ofRollout), ...whitening];
  }
  if (advantageKind === 'turns') {
    const turn = part('turnGamma', 'γ_turn');
    return [
      reward,
      equationOf(
        'turns',
        'from turn to turn: r is the reward at turn i’s last token, p the rewards before it in the turn',
        ...['A_i = r_i + ', turn, '·(p_{i+1} + ', part('critic', 'V_{i+1}'), ') − ', part('critic', 'V_i')],
        ...[' + ', turn, '·', lambda, '·A_{i+1}'],
      ),
      equationOf(
        'advantage',
        'inside turn i, where A_i + V_i stands for the reward at its end',
        ...[A, ' = r + ', gamma, '·', ...values('V', 'V′'), ' + ', gamma, '·', lambda, '·A′'],
      ),
      ...whitening,
    ];
  }
  if (advantageKind === 'whole-turns') {
    const turn = part('turnGamma', 'γ_turn');
    return [
      reward,
      equationOf(
        'advantage',
        'advantage of all tokens of turn i: r is the sum of its rewards, V the value before its first token',
        ...[A, '_i = r_i + ', turn, '·', ...values('V_i', 'V_{i+1}'), ' + ', turn, '·', lambda, '·A_{i+1}'],
      ),
      ...whitening,
    ];
  }
  const steps = critic
    ? ['r + ', gamma, '·', ...values('V', 'V′'), ' + ', gamma, '·', lambda, '·A′']
    : ['r + ', gamma, '·A′'];
  return [reward, equationOf('advantage', 'advantage, from token to token', A, ' = ', ...steps), ...whitening];
}

function filterEquations(c: RunConfig): FormulaEquation[] {
  if (c.filter === 'none') return [];
  const factor = { none: 'kept share', linear: 'kept share', sqrt: '√kept share' }[c.filterScaling];
  const keptPrompts = part('kept', `in prompts kept by ${c.filter}`);
  return [
    equationOf(
      'filter',
      'the group filter',
      'A ← A',
      partIf(c.filterScaling !== 'none', 'scale', `·${factor}`),
      ', ',
      keptPrompts,
    ),
  ];
}

function correctionEquations(c: RunConfig): FormulaEquation[] {
  if (c.correction === 'none') return [];
  const [low, high] = [part('correctionLow', 'c₋'), part('correctionHigh', 'c₊')];
  const isOfRow = c.correctionLevel === 'sequence';
  const ratio = !isOfRow
    ? 'π_old / π_drawn'
    : c.correction === 'rejected'
      ? 'exp(mean_m log(π_old / π_drawn))'
      : 'Π_m π_old / π_drawn';
  const what = isOfRow ? 'rollout' : 'token';
  const effects = {
    truncated: ['; ', part('correction', 'w'), ' = min(q, ', high, ')'],
    masked: ['; ', part('correction', 'w'), ' = q where ', low, ' ≤ q ≤ ', high, ', else 0'],
    rejected: ['; ', part('correction', 'not in the losses'), ' where q < ', low, ' or q > ', high],
  };
  const meaning = `correction of each ${what}, because something else than the learner drew it`;
  return [equationOf('correction', meaning, 'q = ', part('correction', ratio), ...effects[c.correction])];
}

function policyEquations(c: RunConfig): FormulaEquation[] {
  const loss = part('surrogate', 'ℓ');
  if (c.surrogate === 'plain')
    return [equationOf('policy', 'policy loss of a token', loss, ' = −A·', part('ratio', 'log π'))];
  const ratio = part('ratio', c.surrogate === 'gspo' ? 's' : 'ρ');
  const clip = ['clip(', ratio, ', ', part('clipLow', '1 − ε₋'), ', ', part('clipHigh', '1 + ε₊'), ')'];
  const policy = (...pieces: readonly Piece[]) =>
    equationOf('policy', 'policy loss of a token', loss, ' = ', ...pieces);
  const tokenRatio = equationOf('ratio', 'ratio', ratio, ' = π / π_old');
  switch (c.surrogate) {
    case 'clipped': {
      const dual = partIf(c.dualClip > 0, 'dualClip', '; if A < 0, at most −A·c');
      return [tokenRatio, policy('max(−A·', ratio, ', −A·', ...clip, ')', dual)];
    }
    case 'gspo':
      return [
        equationOf(
          'ratio',
          `ratio of a ${c.rows === 'turn' ? 'turn' : 'rollout'}, the same for all of its tokens`,
          ratio,
          ' = exp(mean_m log(π / π_old))',
        ),
        policy('max(−A·', ratio, ', −A·', ...clip, ')'),
      ];
    case 'cispo':
      return [tokenRatio, policy('−A·', ...clip, '·log π, the clipped ratio without a gradient')];
    case 'dppo-tv':
      return [
        tokenRatio,
        policy(
          ...[
            '−A·min(',
            ratio,
            ', ',
            partIf(c.dualClip > 0, 'dualClip', 'c'),
            ')·log π, the ratio without a gradient; ',
          ],
          ...[
            '0 if A > 0 and π − π_old > ',
            part('clipHigh', 'ε₊'),
            ', or A < 0 and π_old − π > ',
            part('clipLow', 'ε₋'),
          ],
        ),
      ];
  }
}

function lossEquations(c: RunConfig): FormulaEquation[] {
  const [before, suffix] = AGGREGATIONS[c.aggregation];
  const prefix = c.rows === 'turn' ? before.replace('_b', '_i') : before;
  const prefixPart = part('aggregation', prefix);
  const averaged = (...loss: readonly Piece[]) => [
    prefixPart,
    ...loss,
    ...(suffix ? [part('aggregation', suffix)] : []),
  ];
  const entropy = partIf(c.entropyCoef > 0, 'entropy', ' − c_H·', ...averaged('H'));
  const kl = partIf(
    c.klCoef > 0,
    'kl',
    ' + β·',
    ...averaged(c.klTimesRatio === 'on' ? `ρ·${c.klEstimator}` : c.klEstimator),
  );
  const observation = partIf(
    c.observationLoss > 0 && agentOnly(c, 'policyTokens'),
    'observation',
    ' + λ_o·mean_o(−log π)',
  );
  const estimate = partIf(c.klCoef > 0, 'kl', `${c.klEstimator} = ${KL_FORMULAS[c.klEstimator]}, ${KL_DELTA}`);
  const teacher = partIf(c.teacher !== 'none' && c.teacherCoef > 0, 'teacher', ' + λ_q·mean_q KL(π ‖ q)');
  const hasCritic = usesCritic(c.estimator);
  const hasSeparateCritic = c.critic === 'separate';
  const weightedValueLoss = partIf(
    hasSeparateCritic || c.valueCoef > 0,
    'value',
    ...(hasSeparateCritic ? [] : [' + c_V·']),
    ...averaged('ℓ_V'),
  );
  const value = equationOf(
    'value',
    'value loss of a token, R its return',
    ...[part('value', 'ℓ_V'), ' = ½·max((V − R)², (', part('valueClip', 'clip(V, V_old ± ε_V)'), ' − R)²)'],
    `, ${RETURN_FORMULA}`,
  );
  return [
    equationOf('kl', 'estimate of KL at a token', estimate),
    ...(hasCritic ? [value] : []),
    equationOf(
      'loss',
      'loss',
      'L = ',
      ...averaged(partIf(weighsTokens(c.correction), 'correction', 'w·'), part('surrogate', 'ℓ')),
      entropy,
      kl,
      observation,
      teacher,
      ...(hasCritic && !hasSeparateCritic ? [weightedValueLoss] : []),
    ),
    ...(hasCritic && hasSeparateCritic
      ? [equationOf('criticLoss', 'loss of the critic, a network of its own', 'L_V = ', weightedValueLoss)]
      : []),
  ];
}

/** Symbols in formulas that aren't terms, each with its explanation. */
const SYMBOLS: readonly (readonly [RegExp, string])[] = [
  [/_m\b/, 'm: tokens that the masks keep'],
  [/_b\b/, 'b: rollouts'],
  [/_o\b/, 'o: words of observations'],
  [/_q\b/, 'q: the teacher, and the tokens that have one'],
  [/_i\b/, 'i: turns'],
  [/′/, '′: at the next token'],
  [/π_old/, 'π_{old}: the policy just before the update'],
  [/π_drawn/, 'π_{drawn}: what drew the rollouts'],
  [/π_ref/, 'π_{ref}: the policy before RL'],
  [/k1\(/, 'k1 = log π_old − log π_ref'],
];

/** Explanations of the symbols in some equations, in one line. */
export function symbolsText(lines: readonly FormulaEquation[]): string {
  const text = lines.map(({ pieces }) => formulaText(pieces)).join(' ');
  return SYMBOLS.flatMap(([pattern, explanation]) => (pattern.test(text) ? [explanation] : [])).join(' · ');
}

/** A formula as one line of text, with `_` for subscripts and `^` for exponents. */
export function formulaText(pieces: readonly Piece[]): string {
  return pieces.map((piece) => (typeof piece === 'string' ? piece : formulaText(piece.pieces))).join('');
}

/** One equation of a configuration as text. Throws if its algorithm doesn't have this equation. */
export function equation(id: EquationId, c: RunConfig): string {
  const match = formulaOf(c).find((each) => each.id === id);
  if (!match) throw new Error(`equation: the formula of ${c.estimator} has no line ${id}.`);
  return formulaText(match.pieces);
}
