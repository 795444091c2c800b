import type { ModelConfig } from '../model/architecture.ts';
import { openGpuPolicy, type GpuPolicy } from '../model/gpuPolicy.ts';
import type { CreditInput } from '../model/policy.ts';
import type { CreditSettings, MaskSwitches } from '../model/learningSettings.ts';
import { credit } from '../rl/credit.ts';
import type { GoldenLine } from './goldenCheck.ts';
import { checkedCases, jsonObject } from './goldenShape.ts';
import { relativeError } from './goldenFixture.ts';
import { Purpose, random } from '../base/rng.ts';

type Table = readonly (readonly number[])[];

interface Expected {
  readonly advantages: Table;
  readonly returns?: Table;
  readonly rewards?: Table; // the estimator's own instead of the case's
  readonly turn_gamma?: number;
}

/** A random batch and what estimators made of it. */
export interface Case {
  readonly name: string;
  readonly gamma: number;
  readonly lambda: number;
  readonly group_size?: number;
  readonly roles: Table;
  readonly rewards: Table;
  readonly values: Table;
  readonly groups?: readonly number[];
  readonly expect: Readonly<Record<string, Expected>>;
}

/** f32 against float64 (test/golden/README.md). */
const GPU_BOUND = 1e-4;
/** Float64 in another order of summation, before what the file's own rounding adds. */
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
  divideByStd: true,
  whiten: true,
  remask: true,
  klCoef: 0,
  klEstimator: 'k1',
  scale: 1,
  masks: masks(true),
  choicesOnly: false,
};
/** The estimators files may ask for, as settings. */
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

/** A model of the least size: credit needs a policy to live in, not what it says. */
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
 * Runs the cases of an `advantages` file on the GPU and in the float64 oracle; returns two lines per estimator and table,
 * each with the worst case. An unknown estimator gives a line that fails. A file of another kind gives no line, a malformed one throws.
 */
export async function checkAdvantages(gpu: GPU | undefined, text: string, file = 'advantages'): Promise<GoldenLine[]> {
  const cases = readAdvantages(file, text);
  const rounding = { places: mostDecimals(cases.map((one) => one.expect)) };
  const numbers = (name: string) =>
    cases.flatMap((one) => [one.expect[name]?.advantages, one.expect[name]?.returns].flatMap((t) => t?.flat() ?? []));
  const single = Object.keys(ESTIMATORS).filter((name) => isFloat32(numbers(name), rounding));
  const worst = new Map<string, GoldenLine>();
  for (const one of cases) {
    for (const line of await caseLines(gpu, one, rounding, single)) {
      const before = worst.get(line.group);
      if (!before || !(line.error / line.bound < before.error / before.bound)) worst.set(line.group, line);
    }
  }
  return [...worst.values()];
}

/** The cases of an `advantages` file, checked; none of a file of another kind. */
export function readAdvantages(file: string, text: string): readonly Case[] {
  const { kind, cases } = jsonObject(file, text);
  if (kind !== 'advantages') return [];
  checkedCases(file, cases);
  return cases as readonly Case[];
}

/** `float32` names the estimators whose numbers the file's writer made in float32. */
async function caseLines(
  gpu: GPU | undefined,
  one: Case,
  rounding: Rounding,
  float32: readonly string[],
): Promise<GoldenLine[]> {
  const rows = one.roles.length;
  const length = Math.max(1, ...one.roles.map((row) => row.length));
  const flat = (table: Table) => table.flatMap((row) => [...row, ...new Array<number>(length - row.length).fill(0)]);
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
    for (const [name, want] of Object.entries(one.expect)) {
      const known = ESTIMATORS[name];
      if (!known) {
        lines.push({ group: name, worst: `${one.name}: unknown estimator`, error: Infinity, bound: GPU_BOUND });
        continue;
      }
      const settings = { ...known, gamma: one.gamma, lambda: one.lambda, turnGamma: want.turn_gamma ?? 1 };
      const rewards = flat(want.rewards ?? one.rewards);
      policy.credit({ rewards: Float32Array.from(rewards), groups }, settings);
      const device = await policy.report();
      // float64 rewards, which the seam's type would round to float32: the oracle only reads numbers
      const exactly = (paid: readonly number[], values: readonly number[]) =>
        credit({ ...batch, values }, { rewards: Float64Array.from(paid), groups } as unknown as CreditInput, settings);
      const oracle = exactly(rewards, batch.values);
      // the file's inputs are rounded too: what that does is seen by moving them
      const moved = [0, 1, 2, 3].map((draw) =>
        exactly(jittered(rewards, rounding, draw), jittered(batch.values, rounding, draw)),
      );
      for (const table of ['advantages', 'returns'] as const) {
        const expected = want[table];
        if (!expected) continue;
        // The agent's tokens are what files agree on; some also hold what observations got.
        const agent = (numbers: ArrayLike<number>) => Array.from(numbers).filter((_, at) => roles[at] === 2);
        const goal = agent(flat(expected));
        const group = table === 'returns' ? `${name} returns` : name;
        const error = (got: ArrayLike<number>) => relativeError(agent(got), goal);
        const own = agent(oracle[table]);
        const inputs = Math.max(...moved.map((other) => relativeError(agent(other[table]), own)));
        const made = float32.includes(name) ? 'float32 file' : 'float64';
        lines.push({ group, worst: one.name, error: error(device[table]), bound: GPU_BOUND });
        const bound =
          made === 'float64' ? ORACLE_BOUND + roundingError(goal, rounding) + inputs : ORACLE_BOUND + FLOAT32_ERROR;
        lines.push({ group: `${group} (oracle, ${made})`, worst: one.name, error: error(oracle[table]), bound });
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

/** Steps of float32 arithmetic that a table made in it may be off: 16 times its unit roundoff of 6e-8. */
const FLOAT32_ERROR = 1e-6;

/** Digits after the point in a number as JSON writes it. */
function decimals(x: number): number {
  const [digits = '', exponent = '0'] = String(x).split('e');
  return Math.max(0, (digits.split('.')[1]?.length ?? 0) - Number(exponent));
}

/** Most digits after the point among all numbers in a JSON value: what its writer rounded to. */
function mostDecimals(value: unknown): number {
  if (typeof value === 'number') return decimals(value);
  if (typeof value !== 'object' || value === null) return 0;
  return Object.values(value).reduce<number>((most, inner) => Math.max(most, mostDecimals(inner)), 0);
}

/** How a file's numbers were rounded when it was written. */
interface Rounding {
  readonly places: number; // digits after the point
}

/** Half a unit of the last place where a number has all of them; one with fewer digits is taken to be exact. */
function halfUnit(x: number, { places }: Rounding): number {
  return decimals(x) >= places - 1 ? 0.5 * 10 ** -places : 0;
}

/** The most that the rounding of `goal` can move ‖got − goal‖ / ‖goal‖. */
function roundingError(goal: readonly number[], rounding: Rounding): number {
  const size = Math.hypot(...goal);
  return Math.hypot(...goal.map((x) => halfUnit(x, rounding))) / (size > 0 ? size : 1);
}

/** The numbers, each moved up or down by what rounding may have taken from it; `draw` picks another set of signs. */
function jittered(numbers: readonly number[], rounding: Rounding, draw: number): number[] {
  const sign = random(41 + draw, Purpose.shuffle);
  return numbers.map((x) => x + (sign.next() < 0.5 ? -1 : 1) * halfUnit(x, rounding));
}

/**
 * Whether a table was made in float32: every number with all its digits is a float32, up to the rounding. Chance does that
 * to one float64 in fifty, so a few numbers tell; fewer than three do not.
 */
function isFloat32(table: readonly number[], rounding: Rounding): boolean {
  const unit = 10 ** -rounding.places;
  // a short number is the same in both, and where float32 is finer than the digits printed a number says nothing
  const telling = table.filter((x) => significant(x) > 6 && Math.abs(x) * 2 ** -24 > 10 * unit);
  return (
    telling.length >= 3 && telling.every((x) => Math.abs(x - Math.fround(x)) <= 0.51 * unit + Math.abs(x) * 2 ** -52)
  );
}

/** Significant digits of a number as JSON writes it. */
function significant(x: number): number {
  return (String(x).split('e')[0] ?? '').replace(/[-.]/g, '').replace(/^0+/, '').length;
}
