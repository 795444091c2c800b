import type { Scalar } from '../gpu/tensor.ts';
import type { GpuPolicyOptions } from '../model/gpu/options.ts';
import { openGpuPolicy, type GpuPolicy } from '../model/gpuPolicy.ts';
import { relativeError, supervised, type Golden } from './goldenFixture.ts';

/** The worst tensor of a group against its bound. */
export interface GoldenLine {
  readonly group: string;
  readonly worst: string; // name of the tensor
  readonly error: number; // relative
  readonly bound: number;
}

/** Against float64, by what is stored, with reasons in test/golden/README.md; groups without one of their own have `any`. */
const BOUNDS = {
  f32: { any: 1e-4, 'adamw.param': 5e-4 },
  f16: { any: 2 ** -8, 'sft.grad': 2 ** -7, 'policy.grad': 2 ** -7, policy: 2 ** -6, 'adamw.param': 0.1 },
} as const satisfies Record<Scalar, Readonly<Record<string, number>>>;
const PARTS = ['policyLoss', 'entropy', 'kl', 'clipFraction', 'approxKl', 'valueLoss'] as const;
const PART_NAMES = ['policy_loss', 'entropy', 'kl', 'clip_fraction', 'approx_kl', 'value_loss'] as const;

/** Runs a fixture on the GPU engine, from logits to AdamW; one line a group of tensors. */
export async function checkGolden(
  gpu: GPU | undefined,
  golden: Golden,
  { storage = 'f32', ...options }: Pick<GpuPolicyOptions, 'kernels' | 'slabs' | 'storage'> = {},
): Promise<GoldenLine[]> {
  const spec = {
    model: golden.model,
    critic: golden.model.value_head ? 'shared' : 'none',
    rows: golden.rows,
    length: golden.length,
    minibatchRows: golden.rows,
  } as const;
  const policy = await openGpuPolicy(gpu, spec, { seed: 1, storage, ...options });
  try {
    policy.writeWeights(golden.named('param.'));
    const lines = [
      ...(await scores(policy, golden)),
      ...(await losses(policy, golden)),
      ...(await adamw(policy, golden)),
    ];
    const bounds: Readonly<Record<string, number>> = BOUNDS[storage];
    return lines.map((line) => ({ ...line, bound: bounds[line.group] ?? BOUNDS[storage].any }));
  } finally {
    policy.destroy();
  }
}

type Unbounded = Omit<GoldenLine, 'bound'>;

function line(group: string, pairs: readonly (readonly [string, ArrayLike<number>, ArrayLike<number>])[]): Unbounded {
  let worst = { group, worst: '', error: 0 };
  for (const [name, got, want] of pairs) {
    const error = relativeError(got, want);
    if (!(error < worst.error) || worst.worst === '') worst = { group, worst: name, error };
  }
  return worst;
}

const everyRow = (golden: Golden) => Int32Array.from({ length: golden.rows }, (_, b) => b);

async function scores(policy: GpuPolicy, golden: Golden): Promise<Unbounded[]> {
  policy.load(golden.record, golden.given);
  const logits = await policy.logits();
  const V = golden.model.vocab_size;
  // Fixtures hold zero at pads.
  const masked = logits.map((z, i) => (golden.record.roles[Math.floor(i / V)] === 0 ? 0 : z));
  policy.score(1, { reference: false, values: true });
  const report = await policy.report();
  const lines = [
    line('logits', [['logits', masked, golden.tensor('expect.logits')]]),
    line('logprobs', [['logprobs', report.logprobs, golden.tensor('expect.logprobs')]]),
    line('entropies', [['entropies', report.entropies, golden.tensor('expect.entropies')]]),
  ];
  if (golden.has('expect.values'))
    lines.push(line('values', [['values', report.values, golden.tensor('expect.values')]]));
  return lines;
}

async function losses(policy: GpuPolicy, golden: Golden): Promise<Unbounded[]> {
  const sft = supervised(golden);
  policy.load(golden.record, sft.given);
  const first = await policy.gradients(everyRow(golden), sft.objective, golden.optimizer, 1);
  policy.load(golden.record, golden.given);
  const second = await policy.gradients(everyRow(golden), golden.objective, golden.optimizer, 1);
  const { objective: o } = golden;
  const at = (i: number) => second.stats[i]!;
  const values = {
    policyLoss: at(0),
    entropy: at(1),
    kl: at(2),
    clipFraction: at(3),
    approxKl: at(5),
    valueLoss: at(6),
  };
  // Fixtures leave KL out of `total` where klCoef is 0 and then the engine does not compute it.
  const total = at(0) - o.entropyCoef * at(1) + o.klCoef * at(2) + (golden.model.value_head ? o.valueCoef * at(6) : 0);
  const named = (gradients: ReadonlyMap<string, Float32Array>, prefix: string) =>
    [...golden.named(prefix)].map(([name, want]) => [name, gradients.get(name) ?? [], want] as const);
  const parts = PARTS.map((part, i) => [PART_NAMES[i] as string, [values[part]]] as const)
    .filter(([name]) => golden.has(`expect.policy.${name}`) && !(name === 'kl' && o.klCoef === 0))
    .map(([name, got]) => [name, got, golden.tensor(`expect.policy.${name}`)] as const);
  return [
    line('sft.loss', [['loss', [first.stats[0]!], golden.tensor('expect.sft.loss')]]),
    line('sft.grad', named(first.gradients, 'expect.sft.grad.')),
    line('policy', [...parts, ['total', [total], golden.tensor('expect.policy.total')]]),
    line('policy.grad', named(second.gradients, 'expect.policy.grad.')),
  ];
}

async function adamw(policy: GpuPolicy, golden: Golden): Promise<Unbounded[]> {
  const before = golden.named('param.');
  policy.writeWeights(before);
  policy.load(golden.record, golden.given);
  for (let step = 0; step < golden.adamwSteps; step++)
    policy.learn(everyRow(golden), golden.objective, golden.optimizer, 1);
  const { steps } = await policy.report();
  const after = (await policy.readState()).policy.weights;
  const change = (to: ArrayLike<number>, from: Float32Array) => from.map((w, i) => to[i]! - w);
  const changes = [...golden.named('expect.adamw.param.')].map(([name, want]) => {
    const from = before.get(name)!;
    return [name, change(after.get(name) ?? [], from), change(want, from)] as const;
  });
  return [
    line('adamw.grad_norms', [['grad_norms', steps.map((s) => s.gradNorm), golden.tensor('expect.adamw.grad_norms')]]),
    line('adamw.param', changes),
  ];
}
