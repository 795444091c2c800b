import type { ModelConfig } from '../../src/model/architecture.ts';
import { openGpuPolicy, type GpuPolicy } from '../../src/model/gpu/gpuPolicy.ts';
import type { CreditInput } from '../../src/model/policy.ts';
import type { CreditSettings, MaskSwitches } from '../../src/model/learningSettings.ts';
import { credit } from '../../src/rl/credit.ts';
import type { GoldenLine } from './goldenCheck.ts';
import { checkCases, jsonObject } from './goldenShape.ts';
import { relativeError } from './goldenFixture.ts';
import { Purpose, random } from '../../src/base/rng.ts';

type NumberRows = readonly (readonly number[])[];

interface Expected {
  readonly advantages: NumberRows;
  readonly returns?: NumberRows;
  readonly rewards?: NumberRows; // rewards for this estimator, in place of the case's
  readonly turn_gamma?: number;
}

/** A random batch, and what published implementations of the estimators computed from it. */
export interface AdvantageCase {
  readonly name: string;
  readonly gamma: number;
  readonly lambda: number;
  readonly group_size?: number;
  readonly roles: NumberRows;
  readonly rewards: NumberRows;
  readonly values: NumberRows;
  readonly groups?: readonly number[];
  readonly expect: Readonly<Record<string, Expected>>;
}

/** Largest relative error of the GPU, which computes in float32, against float64 (test/golden/README.md). */
const GPU_BOUND = 1e-4;
/**
 * Largest relative error of the float64 oracle, which sums in another order than the file's writer. The error from the
 * rounding of the file's numbers is added to it.
 */
const ORACLE_BOUND = 1e-9;

const masks = (on: boolean): MaskSwitches => ({
  advantage: on,
  whiten: on,
  value: on,
  klReward: on,
  policy: true,
  regularizer: true,
});
const BASE: Omit<CreditSettings, 'estimator' | 'gamma' | 'lambda' | 'turnGamma'> = {
  stateWeight: 1,
  divideByStd: true,
  whiten: true,
  remask: true,
  klCoef: 0,
  klEstimator: 'k1',
  scale: 1,
  masks: masks(true),
  trainTurns: 'all',
  choicesOnly: false,
};
/** The settings of the estimators that a file may name. */
const ESTIMATORS: Readonly<Record<string, Omit<CreditSettings, 'gamma' | 'lambda' | 'turnGamma'>>> = {
  gae: { ...BASE, estimator: 'gae' },
  gae_no_advantage_mask: { ...BASE, estimator: 'gae', masks: masks(false) },
  grpo: { ...BASE, estimator: 'grpo' },
  grpo_no_std: { ...BASE, estimator: 'grpo', divideByStd: false },
  rloo: { ...BASE, estimator: 'rloo' },
  reinforce_plus_plus: { ...BASE, estimator: 'reinforce++' },
  reinforce_plus_plus_baseline: { ...BASE, estimator: 'reinforce++-baseline' },
  bi_level_gae: { ...BASE, estimator: 'bi-level-gae' },
  bi_level_gae_inside_turns: { ...BASE, estimator: 'bi-level-gae' },
};

/** The smallest possible model. Credit is computed by a policy on the GPU, but does not depend on its outputs. */
const MODEL: ModelConfig = {
  vocab_size: 4,
  hidden_size: 4,
  intermediate_size: 4,
  num_hidden_layers: 1,
  num_attention_heads: 1,
  num_key_value_heads: 1,
  head_dim: 4,
  rms_norm_eps: 1e-5,
  rope_theta: 10000,
  attention_bias: false,
  tie_word_embeddings: true,
  value_head: true,
};

/**
 * Runs the cases of an `advantages` file on the GPU and in the oracle, an independent computation in float64. Returns
 * two lines for each estimator and table, each with the worst case. An unknown estimator gives a line that fails. A
 * file of another kind gives no line. A malformed file throws.
 */
export async function checkAdvantages(gpu: GPU | undefined, text: string, file = 'advantages'): Promise<GoldenLine[]> {
  const cases = readAdvantages(file, text);
  const rounding = { places: maxDecimalPlaces(cases.map((one) => one.expect)) };
  const numbers = (name: string) =>
    cases.flatMap((one) => [one.expect[name]?.advantages, one.expect[name]?.returns].flatMap((t) => t?.flat() ?? []));
  const float32Estimators = Object.keys(ESTIMATORS).filter((name) => isFloat32(numbers(name), rounding));
  const worst = new Map<string, GoldenLine>();
  for (const one of cases) {
    for (const line of await caseLines(gpu, one, rounding, float32Estimators)) {
      const worstSoFar = worst.get(line.group);
      if (!worstSoFar || !(line.error / line.bound < worstSoFar.error / worstSoFar.bound)) worst.set(line.group, line);
    }
  }
  return [...worst.values()];
}

/** Reads and checks the cases of an `advantages` file. Empty for a file of another kind. */
export function readAdvantages(file: string, text: string): readonly AdvantageCase[] {
  const { kind, cases } = jsonObject(file, text);
  if (kind !== 'advantages') return [];
  checkCases(file, cases);
  return cases as readonly AdvantageCase[];
}

/** The lines of one case. `float32Estimators` are those whose numbers the file's writer computed in float32. */
async function caseLines(
  gpu: GPU | undefined,
  one: AdvantageCase,
  rounding: Rounding,
  float32Estimators: readonly string[],
): Promise<GoldenLine[]> {
  const rows = one.roles.length;
  const length = Math.max(1, ...one.roles.map((row) => row.length));
  const flat = (table: NumberRows) =>
    table.flatMap((row) => [...row, ...new Array<number>(length - row.length).fill(0)]);
  const roles = Uint8Array.from(flat(one.roles));
  const zero = new Float64Array(rows * length);
  const batch = { rows, length, roles, values: flat(one.values), oldLogprobs: zero, refLogprobs: zero };
  const size = Math.max(1, one.group_size ?? 1);
  const groups = Int32Array.from(one.groups ?? one.roles.map((_, b) => Math.floor(b / size)));
  const spec = { model: MODEL, critic: 'shared', rows, length, minibatchRows: rows } as const;
  const policy = await openGpuPolicy(gpu, spec, { seed: 1 });
  const lines: GoldenLine[] = [];
  try {
    loadValues(policy, roles, batch.values);
    for (const [name, expectation] of Object.entries(one.expect)) {
      const estimatorSettings = ESTIMATORS[name];
      if (!estimatorSettings) {
        lines.push({ group: name, worst: `${one.name}: unknown estimator`, error: Infinity, bound: GPU_BOUND });
        continue;
      }
      const settings = {
        ...estimatorSettings,
        gamma: one.gamma,
        lambda: one.lambda,
        turnGamma: expectation.turn_gamma ?? 1,
      };
      const rewards = flat(expectation.rewards ?? one.rewards);
      policy.credit({ rewards: Float32Array.from(rewards), groups }, settings);
      const device = await policy.report();
      // `CreditInput` wants float32 rewards; the oracle reads any numbers, and float64 spares it a rounding
      const oracleCredit = (tokenRewards: readonly number[], values: readonly number[]) =>
        credit(
          { ...batch, values },
          { rewards: Float64Array.from(tokenRewards), groups } as unknown as CreditInput,
          settings,
        );
      const oracle = oracleCredit(rewards, batch.values);
      // the file's inputs are rounded too; moving them by the largest rounding error shows how much that may matter
      const jitteredCredits = [0, 1, 2, 3].map((draw) =>
        oracleCredit(jittered(rewards, rounding, draw), jittered(batch.values, rounding, draw)),
      );
      for (const table of ['advantages', 'returns'] as const) {
        const expectedTable = expectation[table];
        if (!expectedTable) continue;
        // Only the agent's tokens are compared: files differ in what they hold for observation tokens.
        const agentTokens = (numbers: ArrayLike<number>) => Array.from(numbers).filter((_, at) => roles[at] === 2);
        const expectedNumbers = agentTokens(flat(expectedTable));
        const group = table === 'returns' ? `${name} returns` : name;
        const errorOf = (got: ArrayLike<number>) => relativeError(agentTokens(got), expectedNumbers);
        const oracleNumbers = agentTokens(oracle[table]);
        const inputError = Math.max(
          ...jitteredCredits.map((jitteredCredit) => relativeError(agentTokens(jitteredCredit[table]), oracleNumbers)),
        );
        const precision = float32Estimators.includes(name) ? 'float32 file' : 'float64';
        lines.push({ group, worst: one.name, error: errorOf(device[table]), bound: GPU_BOUND });
        const bound =
          precision === 'float64'
            ? ORACLE_BOUND + roundingError(expectedNumbers, rounding) + inputError
            : ORACLE_BOUND + FLOAT32_ERROR;
        lines.push({ group: `${group} (oracle, ${precision})`, worst: one.name, error: errorOf(oracle[table]), bound });
      }
    }
  } finally {
    policy.destroy();
  }
  return lines;
}

function loadValues(policy: GpuPolicy, roles: Uint8Array, values: readonly number[]): void {
  const size = roles.length;
  const zero = new Float32Array(size);
  const oldValues = Float32Array.from(values);
  const rest = { oldLogprobs: zero, refLogprobs: zero, advantages: zero, lossMask: zero, valueMask: zero };
  policy.load(
    { tokens: new Int32Array(size), roles, states: new Uint8Array(size) },
    { ...rest, returns: zero, oldValues },
  );
}

/** Largest relative error of a table that was computed in float32: 16 times its unit roundoff of 6e-8. */
const FLOAT32_ERROR = 1e-6;

/** Digits after the point in a number as JSON writes it. */
function decimalPlaces(x: number): number {
  const [digits = '', exponent = '0'] = String(x).split('e');
  return Math.max(0, (digits.split('.')[1]?.length ?? 0) - Number(exponent));
}

/** The most digits after the point of any number in a JSON value: its writer rounded to that many. */
function maxDecimalPlaces(value: unknown): number {
  if (typeof value === 'number') return decimalPlaces(value);
  if (typeof value !== 'object' || value === null) return 0;
  return Object.values(value).reduce<number>((most, inner) => Math.max(most, maxDecimalPlaces(inner)), 0);
}

/** How a file's numbers were rounded when it was written. */
interface Rounding {
  readonly places: number; // digits after the point
}

/**
 * The largest rounding error of a number: half a unit of the last place if it has all digits (or all but one). A number
 * with fewer digits counts as exact.
 */
function halfUnit(x: number, { places }: Rounding): number {
  return decimalPlaces(x) >= places - 1 ? 0.5 * 10 ** -places : 0;
}

/** The largest effect that the rounding of the expected numbers can have on the relative error. */
function roundingError(expectedNumbers: readonly number[], rounding: Rounding): number {
  const size = Math.hypot(...expectedNumbers);
  return Math.hypot(...expectedNumbers.map((x) => halfUnit(x, rounding))) / (size > 0 ? size : 1);
}

/** The numbers, each moved up or down by its largest rounding error. `draw` selects the random signs. */
function jittered(numbers: readonly number[], rounding: Rounding, draw: number): number[] {
  const sign = random(41 + draw, Purpose.shuffle);
  return numbers.map((x) => x + (sign.next() < 0.5 ? -1 : 1) * halfUnit(x, rounding));
}

/**
 * Whether a table was computed in float32: every number with enough digits is a float32, up to the rounding. One
 * float64 in fifty is one by chance, so three such numbers are enough to tell, and fewer are not.
 */
function isFloat32(table: readonly number[], rounding: Rounding): boolean {
  const unit = 10 ** -rounding.places;
  // A number with few digits is the same in both formats. A number says nothing either where float32 is finer than the
  // printed digits.
  const conclusive = table.filter((x) => significantDigits(x) > 6 && Math.abs(x) * 2 ** -24 > 10 * unit);
  return (
    conclusive.length >= 3 &&
    conclusive.every((x) => Math.abs(x - Math.fround(x)) <= 0.51 * unit + Math.abs(x) * 2 ** -52)
  );
}

/** Significant digits of a number as JSON writes it. */
function significantDigits(x: number): number {
  return (String(x).split('e')[0] ?? '').replace(/[-.]/g, '').replace(/^0+/, '').length;
}
