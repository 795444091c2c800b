import { openGpuPolicy } from '../model/gpuPolicy.ts';
import type { CreditSettings } from '../model/policy.ts';
import type { GoldenLine } from './goldenCheck.ts';
import { relativeError } from './goldenFixture.ts';

interface Expected {
  readonly advantages: readonly (readonly number[])[];
  readonly returns?: readonly (readonly number[])[];
}

interface Case {
  readonly name: string;
  readonly gamma: number;
  readonly lambda: number;
  readonly roles: readonly (readonly number[])[];
  readonly rewards: readonly (readonly number[])[];
  readonly values: readonly (readonly number[])[];
  readonly groups: readonly number[];
  readonly expect: Readonly<Record<string, Expected>>;
}

const BASE = { divideByStd: true, whiten: true, lossMask: true, advantageMask: true };
/** The estimators this engine has, as settings; others in a file are left alone. */
const ESTIMATORS: Readonly<Record<string, Omit<CreditSettings, 'gamma' | 'lambda'>>> = {
  gae: { ...BASE, estimator: 'gae' },
  gae_no_advantage_mask: { ...BASE, estimator: 'gae', advantageMask: false },
  grpo: { ...BASE, estimator: 'grpo' },
  grpo_no_std: { ...BASE, estimator: 'grpo', divideByStd: false },
};

/** Runs the cases of an `advantages` file on the GPU; one line an estimator. Files of another kind give no line. */
export async function checkAdvantages(gpu: GPU | undefined, text: string): Promise<GoldenLine[]> {
  const { kind, cases } = JSON.parse(text) as { readonly kind?: string; readonly cases?: readonly Case[] };
  if (kind !== 'advantages' || !cases) return [];
  const worst = new Map<string, GoldenLine>();
  for (const one of cases) {
    for (const [estimator, error] of await caseErrors(gpu, one)) {
      const before = worst.get(estimator);
      if (!before || !(error < before.error))
        worst.set(estimator, { group: estimator, worst: one.name, error, bound: 1e-4 });
    }
  }
  return [...worst.values()];
}

async function caseErrors(gpu: GPU | undefined, one: Case): Promise<[string, number][]> {
  const rows = one.roles.length;
  const length = one.roles[0]?.length ?? 0;
  const model = {
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
  const policy = await openGpuPolicy(gpu, { model, critic: 'shared', rows, length, minibatchRows: rows }, { seed: 1 });
  const floats = (table: readonly (readonly number[])[]) => Float32Array.from(table.flat());
  const zero = new Float32Array(rows * length);
  const roles = Uint8Array.from(one.roles.flat());
  const given = {
    oldLogprobs: zero,
    refLogprobs: zero,
    advantages: zero,
    lossMask: zero,
    valueMask: zero,
    returns: zero,
    oldValues: floats(one.values),
  };
  policy.load({ tokens: new Int32Array(rows * length), roles, states: new Uint8Array(rows * length) }, given);
  const found: [string, number][] = [];
  for (const [name, want] of Object.entries(one.expect)) {
    const settings = ESTIMATORS[name];
    if (!settings) continue;
    policy.credit(floats(one.rewards), Int32Array.from(one.groups), {
      ...settings,
      gamma: one.gamma,
      lambda: one.lambda,
    });
    const report = await policy.report();
    // The agent's tokens are what files agree on; some also hold what observations got.
    const agent = (table: Float32Array) => table.map((x, i) => (roles[i] === 2 ? x : 0));
    found.push([name, relativeError(agent(report.advantages), agent(floats(want.advantages)))]);
    if (want.returns)
      found.push([`${name} returns`, relativeError(agent(report.returns), agent(floats(want.returns)))]);
  }
  policy.destroy();
  return found;
}
