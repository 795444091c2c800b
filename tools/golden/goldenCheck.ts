import { STEP_STATS } from '../../src/gpu/kernels/stepStats.ts';
import type { ScalarType } from '../../src/gpu/tensor.ts';
import type { GpuPolicyOptions } from '../../src/model/gpu/options.ts';
import { openGpuPolicy, type GpuPolicy } from '../../src/model/gpu/gpuPolicy.ts';
import { relativeError, supervisedLoss, type Golden } from './goldenFixture.ts';

/** The tensor with the largest error of a group, and the bound of the group. */
export interface GoldenLine {
  readonly group: string;
  readonly worst: string; // name of the tensor
  readonly error: number; // relative
  readonly bound: number;
}

/**
 * Largest relative errors against float64, by number format of the weights and by group; `any` is for all groups that
 * aren't listed. The reasons are in test/golden/README.md.
 */
const BOUNDS = {
  f32: { any: 1e-4, 'adamw.param': 5e-4 },
  f16: { any: 2 ** -8, 'sft.grad': 2 ** -7, 'policy.grad': 2 ** -7, policy: 2 ** -6, 'adamw.param': 0.1 },
} as const satisfies Record<ScalarType, Readonly<Record<string, number>>>;
const PARTS = ['policyLoss', 'entropy', 'kl', 'clipFraction', 'approxKl', 'valueLoss'] as const;
const PART_NAMES = ['policy_loss', 'entropy', 'kl', 'clip_fraction', 'approx_kl', 'value_loss'] as const;

/** Runs a fixture on the GPU engine, from logits to AdamW. Returns one line for each group of tensors. */
export async function checkGolden(
  gpu: GPU | undefined,
  golden: Golden,
  { storage = 'f32', ...options }: Pick<GpuPolicyOptions, 'kernels' | 'partials' | 'storage'> = {},
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
    policy.writeWeights(golden.tensorsUnder('param.'));
    const lines = [
      ...(await scoreLines(policy, golden)),
      ...(await lossLines(policy, golden)),
      ...(await adamwLines(policy, golden)),
    ];
    const bounds: Readonly<Record<string, number>> = BOUNDS[storage];
    return lines.map((line) => ({ ...line, bound: bounds[line.group] ?? BOUNDS[storage].any }));
  } finally {
    policy.destroy();
  }
}

type LineWithoutBound = Omit<GoldenLine, 'bound'>;

function worstLine(
  group: string,
  pairs: readonly (readonly [string, ArrayLike<number>, ArrayLike<number>])[],
): LineWithoutBound {
  let worst = { group, worst: '', error: 0 };
  for (const [name, got, want] of pairs) {
    const error = relativeError(got, want);
    if (!(error < worst.error) || worst.worst === '') worst = { group, worst: name, error };
  }
  return worst;
}

const allRows = (golden: Golden) => Int32Array.from({ length: golden.rows }, (_, b) => b);

async function scoreLines(policy: GpuPolicy, golden: Golden): Promise<LineWithoutBound[]> {
  policy.load(golden.record, golden.givenCredit);
  const logits = await policy.logits();
  const V = golden.model.vocab_size;
  // nothing follows a row's last token, so no logits are computed there
  const { roles } = golden.record;
  const precedes = roles.map((_, at) => Number((at + 1) % golden.length !== 0 && roles[at + 1] !== 0));
  const atNext = (all: Float32Array) => all.map((z, i) => (precedes[Math.floor(i / V)] === 0 ? 0 : z));
  policy.score(1, { reference: false, values: true });
  const report = await policy.report();
  const lines = [
    worstLine('logits', [['logits', atNext(logits), atNext(golden.tensor('expect.logits'))]]),
    worstLine('logprobs', [['logprobs', report.logprobs, golden.tensor('expect.logprobs')]]),
    worstLine('entropies', [['entropies', report.entropies, golden.tensor('expect.entropies')]]),
  ];
  if (golden.has('expect.values'))
    lines.push(worstLine('values', [['values', report.values, golden.tensor('expect.values')]]));
  return lines;
}

async function lossLines(policy: GpuPolicy, golden: Golden): Promise<LineWithoutBound[]> {
  const sft = supervisedLoss(golden);
  policy.load(golden.record, sft.givenCredit);
  const supervisedStep = await policy.gradients(allRows(golden), sft.objective, golden.optimizer, 1);
  policy.load(golden.record, golden.givenCredit);
  const policyStep = await policy.gradients(allRows(golden), golden.objective, golden.optimizer, 1);
  const { objective: o } = golden;
  const stat = (name: (typeof STEP_STATS)[number]) => policyStep.stats[STEP_STATS.indexOf(name)]!;
  const values = Object.fromEntries(PARTS.map((part) => [part, stat(part)])) as Record<(typeof PARTS)[number], number>;
  // If klCoef is 0, the engine does not compute KL, and fixtures leave it out of `total`.
  const total =
    values.policyLoss -
    o.entropyCoef * values.entropy +
    o.klCoef * values.kl +
    (golden.model.value_head ? o.valueCoef * values.valueLoss : 0);
  const named = (gradients: ReadonlyMap<string, Float32Array>, prefix: string) =>
    [...golden.tensorsUnder(prefix)].map(([name, want]) => [name, gradients.get(name) ?? [], want] as const);
  const parts = PARTS.map((part, i) => [PART_NAMES[i] as string, [values[part]]] as const)
    .filter(([name]) => golden.has(`expect.policy.${name}`) && !(name === 'kl' && o.klCoef === 0))
    .map(([name, got]) => [name, got, golden.tensor(`expect.policy.${name}`)] as const);
  return [
    worstLine('sft.loss', [['loss', [supervisedStep.stats[0]!], golden.tensor('expect.sft.loss')]]),
    worstLine('sft.grad', named(supervisedStep.gradients, 'expect.sft.grad.')),
    worstLine('policy', [...parts, ['total', [total], golden.tensor('expect.policy.total')]]),
    worstLine('policy.grad', named(policyStep.gradients, 'expect.policy.grad.')),
  ];
}

async function adamwLines(policy: GpuPolicy, golden: Golden): Promise<LineWithoutBound[]> {
  const before = golden.tensorsUnder('param.');
  policy.writeWeights(before);
  policy.load(golden.record, golden.givenCredit);
  for (let step = 0; step < golden.adamwSteps; step++)
    policy.learn(allRows(golden), golden.objective, golden.optimizer, 1);
  const { steps } = await policy.report();
  const after = (await policy.readState()).policy.weights;
  const change = (to: ArrayLike<number>, from: Float32Array) => from.map((w, i) => to[i]! - w);
  const changes = [...golden.tensorsUnder('expect.adamw.param.')].map(([name, want]) => {
    const from = before.get(name)!;
    return [name, change(after.get(name) ?? [], from), change(want, from)] as const;
  });
  return [
    worstLine('adamw.grad_norms', [
      ['grad_norms', steps.map((s) => s.gradNorm), golden.tensor('expect.adamw.grad_norms')],
    ]),
    worstLine('adamw.param', changes),
  ];
}
