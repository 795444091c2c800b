import { baselineOf, canWhiten, ESTIMATORS, usesCritic } from './estimators.ts';
import type { FieldName, RunConfig } from './fields.ts';
import { TERM_LIST, type TermId } from './formulaTerms.ts';
import { idle } from './idle.ts';
import { PLACES } from './masks.ts';

/** A term where it stands in a formula. */
export interface Part {
  readonly term: TermId;
  readonly pieces: readonly Piece[];
  readonly off: boolean; // a knob has taken it out: it is shown to say where it would stand
}
/** What a formula is written with: `_` before a subscript and `^` before an exponent, up to a blank, sign or bracket, or in braces. */
export type Piece = string | Part;

/** An equation of an algorithm. */
export interface Line {
  readonly pieces: readonly Piece[];
  readonly words: string; // what it says, in a few words
}

const part = (term: TermId, ...pieces: readonly Piece[]): Part => ({ term, pieces, off: false });
const partIf = (on: boolean, term: TermId, ...pieces: readonly Piece[]): Part => ({ term, pieces, off: !on });
const line = (words: string, ...pieces: readonly Piece[]): Line => ({ words, pieces });

/** An estimate of KL at a token, of δ = log π − log π_ref. */
export const KL_FORMULAS: Readonly<Record<RunConfig['klEstimator'], string>> = {
  k1: 'δ',
  k2: '½δ²',
  k3: 'e^−δ − 1 + δ',
};

/** The mean or sum that stands before a loss of tokens, and what stands behind it. b runs over rollouts, m over tokens of the mask. */
const AGGREGATIONS: Readonly<Record<RunConfig['aggregation'], readonly [before: string, behind: string]>> = {
  'token-mean': ['mean_m ', ''],
  'seq-mean-token-sum': ['mean_b Σ_m ', ''],
  'seq-mean-token-mean': ['mean_b mean_m ', ''],
  'seq-mean-token-sum-norm': ['mean_b Σ_m ', ' / T'],
};

/**
 * The equations of an algorithm as a configuration has it, from rewards to the loss, as `src/rl/credit.ts`, `src/rl/advantages.ts` and
 * `src/rl/objective.ts` compute them. A′ and V′ are of the row's next token inside the advantage mask, 0 behind the last. A term that
 * a knob at 0 or off takes out stands there as `off`; what no knob but the estimator or the surrogate brings back is left out.
 */
export function formulaOf(c: RunConfig): readonly Line[] {
  return [...creditLines(c), ...filterLines(c), ...policyLines(c), ...lossLines(c)];
}

function creditLines(c: RunConfig): Line[] {
  const { core, critic } = ESTIMATORS[c.estimator];
  const paysKl = partIf(c.klRewardCoef > 0, 'klReward', ` − β_r·${c.klRewardEstimator}(π_old, π_ref)`);
  const reward = line('reward of a token', 'r = ', part('paid', 'paid'), paysKl);
  const [gamma, lambda] = [part('gamma', 'γ'), part('lambda', 'λ')];
  const A = part('advantage', 'A');
  const values = (now: string, next: string) => [part('critic', next), ' − ', part('critic', now)];
  const whitening = canWhiten(c.estimator)
    ? [
        line(
          'advantages are whitened',
          ...['A ← ', partIf(c.whiten === 'on', 'whiten', '(A − mean_m A) / √(var_m A + 10⁻⁸)')],
          partIf(c.whiten === 'on' && c.remask === 'on', 'remask', '·m_A'),
        ),
      ]
    : [];
  if (core === 'group') {
    const of = { mean: 'mean S', 'mean-over-std': 'mean S', 'leave-one-out': 'mean S of the others' };
    const over = partIf(c.divideByStd === 'on', 'spread', ' / (std S + 10⁻⁶)');
    const bare = ['S − ', part('baseline', of[baselineOf(c.estimator, false)])];
    const divides = ESTIMATORS[c.estimator].divides === true;
    return [
      reward,
      line('score of a rollout', 'S = ', part('score', 'Σ_m r')),
      line('advantage of its tokens', A, ' = ', ...(divides ? ['(', ...bare, ')', over] : bare)),
      ...whitening,
    ];
  }
  if (core === 'turns') {
    const turn = part('turnGamma', 'γ_turn');
    return [
      reward,
      line(
        'from turn to turn: r at its last token, p paid inside it before',
        ...['A_i = r_i + ', turn, '·(p_{i+1} + ', part('critic', 'V_{i+1}'), ') − ', part('critic', 'V_i')],
        ...[' + ', turn, '·', lambda, '·A_{i+1}'],
      ),
      line(
        'inside turn i, where A_i + V_i stands for the reward at its end',
        ...[A, ' = r + ', gamma, '·', ...values('V', 'V′'), ' + ', gamma, '·', lambda, '·A′'],
      ),
      ...whitening,
    ];
  }
  const steps = critic
    ? ['r + ', gamma, '·', ...values('V', 'V′'), ' + ', gamma, '·', lambda, '·A′']
    : ['r + ', gamma, '·A′'];
  return [reward, line('advantage, from token to token', A, ' = ', ...steps), ...whitening];
}

function filterLines(c: RunConfig): Line[] {
  if (c.filter === 'none') return [];
  const by = { none: 'kept share', linear: 'kept share', sqrt: '√kept share' }[c.filterScaling];
  const kept = part('kept', `in prompts kept by ${c.filter}`);
  return [line('the group filter', 'A ← A', partIf(c.filterScaling !== 'none', 'scale', `·${by}`), ', ', kept)];
}

function policyLines(c: RunConfig): Line[] {
  const loss = part('surrogate', 'ℓ');
  if (c.surrogate === 'plain') return [line('policy loss of a token', loss, ' = −A·', part('ratio', 'log π'))];
  const ratio = part('ratio', 'ρ');
  const [low, high] = [part('clipLow', '1 − ε₋'), part('clipHigh', '1 + ε₊')];
  return [
    line('ratio', ratio, ' = π / π_old'),
    line(
      'policy loss of a token',
      ...[loss, ' = max(−A·', ratio, ', −A·clip(', ratio, ', ', low, ', ', high, '))'],
      partIf(c.dualClip > 0, 'dualClip', ', where A < 0 at most −A·c'),
    ),
  ];
}

function lossLines(c: RunConfig): Line[] {
  const [before, behind] = AGGREGATIONS[c.aggregation];
  const mean = part('aggregation', before);
  const over = (loss: Piece) => [mean, loss, ...(behind ? [part('aggregation', behind)] : [])];
  const entropy = partIf(c.entropyCoef > 0, 'entropy', ' − c_H·', ...over('H'));
  const kl = partIf(c.klCoef > 0, 'kl', ' + β·', ...over(c.klEstimator));
  const estimate = partIf(
    c.klCoef > 0,
    'kl',
    `${c.klEstimator} = ${KL_FORMULAS[c.klEstimator]}, δ = log π − log π_ref`,
  );
  const critic = usesCritic(c.estimator);
  const apart = c.critic === 'separate';
  const weighed = partIf(apart || c.valueCoef > 0, 'value', ...(apart ? [] : [' + c_V·']), ...over('ℓ_V'));
  const value = line(
    'value loss of a token, R its return',
    ...[part('value', 'ℓ_V'), ' = ½·max((V − R)², (', part('valueClip', 'clip(V, V_old ± ε_V)'), ' − R)²)'],
    ', R = A + V_old',
  );
  return [
    line('estimate of KL at a token', estimate),
    ...(critic ? [value] : []),
    line('loss', 'L = ', ...over(part('surrogate', 'ℓ')), entropy, kl, ...(critic && !apart ? [weighed] : [])),
    ...(critic && apart ? [line('loss of the critic, a network of its own', 'L_V = ', weighed)] : []),
  ];
}

/** The terms of some pieces, each once. */
function termsIn(pieces: readonly Piece[]): TermId[] {
  const ids = pieces.flatMap((piece) => (typeof piece === 'string' ? [] : [piece.term, ...termsIn(piece.pieces)]));
  return [...new Set(ids)];
}

/** Which knobs act on which terms. */
interface Links {
  readonly knobs: ReadonlyMap<TermId, readonly FieldName[]>;
  readonly terms: ReadonlyMap<FieldName, readonly TermId[]>;
}
const links = new WeakMap<RunConfig, Links>(); // a configuration is replaced, never changed

function linksOf(c: RunConfig): Links {
  const known = links.get(c);
  if (known) return known;
  const knobs = new Map(termsIn(formulaOf(c).flatMap(({ pieces }) => pieces)).map((term) => [term, acting(term, c)]));
  const terms = new Map<FieldName, TermId[]>();
  for (const [term, names] of knobs) for (const name of names) terms.set(name, [...(terms.get(name) ?? []), term]);
  const found = { knobs, terms };
  links.set(c, found);
  return found;
}

function acting(term: TermId, c: RunConfig): readonly FieldName[] {
  const { knobs, places = [] } = TERM_LIST[term];
  const followed = places.filter((place) => c[place] === 'follow').map((place) => PLACES[place]);
  return [...new Set<FieldName>([...knobs, ...places, ...followed])].filter((name) => idle(name, c) === null);
}

/** The knobs that act on a term in this configuration: none that does nothing; empty for a term that its formula has not. */
export function knobsOf(term: TermId, c: RunConfig): readonly FieldName[] {
  return linksOf(c).knobs.get(term) ?? [];
}

/** The terms of a configuration's formula that a knob acts on; none where it does nothing, or acts elsewhere. */
export function termsOf(knob: FieldName, c: RunConfig): readonly TermId[] {
  return linksOf(c).terms.get(knob) ?? [];
}

/** A formula as it is written in one line of text, signs and all. */
export function written(pieces: readonly Piece[]): string {
  return pieces.map((piece) => (typeof piece === 'string' ? piece : written(piece.pieces))).join('');
}
