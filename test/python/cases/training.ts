// Writes what training makes of adapters on small models: gradients of every tensor and the weights after three optimizer steps, in float64 and in float32, with all
// that another program needs to compute the same. With SLOW_CASES set (`npm run test:weekly`), of SmolLM2's widened weights too, one row of 64 tokens.
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { peftFiles } from '../../../src/checkpoints/peft.ts';
import { openFolderCheckpoint, openGgufCheckpoint } from '../../../src/checkpoints/openCheckpoint.ts';
import { Purpose, random } from '../../../src/base/rng.ts';
import { freeGrammar, Role, type TokenRecord } from '../../../src/domain/tokens.ts';
import { encodeSafetensors, type SafeTensor } from '../../../src/formats/safetensors.ts';
import { type AdapterConfig, adapterParameters } from '../../../src/model/loraAdapters.ts';
import type { ModelConfig, Weights } from '../../../src/model/architecture.ts';
import { openCpuAdaptedPolicy } from '../../../src/model/cpu/adapters/cpuAdaptedPolicy.ts';
import type { SuppliedCredit, Policy } from '../../../src/model/policy.ts';
import type { ObjectiveSettings, OptimizerSettings } from '../../../src/model/learningSettings.ts';
import type { WeightSource } from '../../../src/model/weightSource.ts';
import { learningMath } from '../../../src/rl/plainLearningMath.ts';
import { ADAPTERS, drawnAdapters } from '../../adapters/made.ts';
import { copySmall, onDisk, smollm2 } from '../packages.ts';
import { NAIVE } from '../../model/naiveArithmetic.ts';

const out = process.argv[2] ?? '.';

const PLAIN: ObjectiveSettings = {
  ...{ surrogate: 'plain', clipLow: 0, clipHigh: 0, dualClip: 0, klEstimator: 'k3', klCoef: 0, entropyCoef: 0 },
  ...{ klTimesRatio: 'off', observationLoss: 0, teacherCoef: 0, valueCoef: 0, valueClip: 0, aggregation: 'token-mean' },
};
const ALL: ObjectiveSettings = {
  ...{ surrogate: 'clipped', clipLow: 0.2, clipHigh: 0.3, dualClip: 3, klEstimator: 'k3', klCoef: 0.1 },
  ...{
    klTimesRatio: 'off',
    observationLoss: 0,
    teacherCoef: 0,
    entropyCoef: 0.05,
    valueCoef: 0.5,
    valueClip: 0.2,
    aggregation: 'seq-mean-token-mean',
  },
};
const STEP: OptimizerSettings = {
  ...{ learningRate: 0.01, criticLearningRate: 0.01, beta1: 0.9, beta2: 0.999, eps: 1e-5, weightDecay: 0.1 },
  ...{ maxGradNorm: 0.5, criticOnly: false },
};
/** A step after which the first moment is the gradient: nothing of the past, nothing cut. */
const GRADIENT: OptimizerSettings = { ...STEP, learningRate: 0, beta1: 0, maxGradNorm: 1e9 };

/** A batch, (B,T), and what the objective reads of it. */
interface Case {
  readonly rows: number;
  readonly length: number;
  readonly record: TokenRecord;
  readonly given: SuppliedCredit;
  readonly minibatches: readonly (readonly number[])[]; // rows of each step
}

/** Rows of these lengths, some of whose first tokens are equal: all begin with 6, three and three with more, two with what the agent wrote too. */
function manyRows(vocabulary: number, logprobs: Float32Array | null): Case {
  const lengths = [24, 21, 18, 24, 15, 20];
  const batch = emptyCase(lengths.length, Math.max(...lengths), [[4, 1, 3], [0, 1, 2, 3, 4, 5], [5, 0]]); // prettier-ignore
  const stem = (row: number, t: number) =>
    t < 6 ? 0 : t < 10 ? 1 + Math.floor(row / 3) : t < 12 && row < 2 ? 3 : 4 + row;
  for (const [row, length] of lengths.entries()) {
    for (let t = 0; t < length; t++) {
      const token = random(3, Purpose.weights, stem(row, t), t).int(vocabulary);
      const observed = row % 2 === 0 && t >= 13 && t < 15;
      place(batch, row, t, token, t < 10 ? Role.prompt : observed ? Role.observation : Role.action, logprobs);
    }
  }
  return batch;
}

/** One row of 64 tokens, the last 40 of them the agent's. */
function oneRow(vocabulary: number, logprobs: Float32Array | null): Case {
  const batch = emptyCase(1, 64, [[0]]);
  for (let t = 0; t < 64; t++) {
    place(batch, 0, t, random(4, Purpose.weights, t).int(vocabulary), t < 24 ? Role.prompt : Role.action, logprobs);
  }
  return batch;
}

function emptyCase(rows: number, length: number, minibatches: Case['minibatches']): Case {
  const size = rows * length;
  const zeros = () => new Float32Array(size);
  const record = { tokens: new Int32Array(size), roles: new Uint8Array(size), states: new Uint8Array(size) };
  const given = {
    ...{ oldLogprobs: zeros(), refLogprobs: zeros(), advantages: zeros(), lossMask: zeros() },
    ...{ valueMask: zeros(), oldValues: zeros(), returns: zeros() },
  };
  return { rows, length, record, given, minibatches };
}

/** Writes a token into the batch; what the agent wrote has an advantage, and was a bit more or less likely when it was drawn. */
function place(batch: Case, row: number, t: number, token: number, role: Role, logprobs: Float32Array | null): void {
  const at = row * batch.length + t;
  batch.record.tokens[at] = token;
  batch.record.roles[at] = role;
  if (role !== Role.action) return;
  const draw = random(5, Purpose.weights, row, t);
  const { given } = batch;
  given.lossMask[at] = 1;
  given.valueMask[at] = 1;
  given.advantages[at] = draw.normal();
  given.oldLogprobs[at] = (logprobs?.[at] ?? 0) + 0.2 * draw.normal();
  given.refLogprobs[at] = (logprobs?.[at] ?? 0) + 0.2 * draw.normal();
  given.oldValues[at] = 0.2 * draw.normal();
  given.returns[at] = draw.normal();
}

/** Trains adapters on a batch and writes all of it into a file. */
async function writeTraining(
  name: string,
  opened: { readonly model: ModelConfig; readonly weights: WeightSource },
  options: { readonly critic: 'none' | 'shared'; readonly adapters: AdapterConfig; readonly spread: number },
  batchOf: typeof manyRows,
): Promise<void> {
  const { critic, adapters, spread } = options;
  const model = { ...opened.model, value_head: critic === 'shared' };
  const begun = new Map([...drawnAdapters(model, adapters, 13)].map(([key, x]) => [key, x.map((w) => w * spread)]));
  const parameters = adapterParameters(model, adapters);
  const tensors = new Map<string, SafeTensor>();
  const add = (prefix: string, weights: Weights) => {
    for (const { name: own, shape } of parameters)
      tensors.set(`${prefix}/${own}`, { shape, values: weights.get(own)! });
  };
  add('begun', begun);
  let batch = batchOf(model.vocab_size, null);
  const { rows, length } = batch;
  for (const precision of ['f64', 'f32'] as const) {
    const spec = { model, critic, rows, length, minibatchRows: rows };
    const policy: Policy = await openCpuAdaptedPolicy(spec, opened.weights, adapters, learningMath, { seed: 1, reason: '', ...(precision === 'f64' && { loops: NAIVE.f64 }) }); // prettier-ignore
    policy.setGrammar(freeGrammar(model.vocab_size));
    policy.freezeReference(); // while its adapters change nothing
    policy.writeWeights(begun);
    policy.load(batch.record);
    await policy.score(1, { reference: true, values: critic === 'shared' });
    const { logprobs, refLogprobs } = await policy.report();
    if (precision === 'f64') batch = batchOf(model.vocab_size, logprobs);
    const shape = [rows, length];
    tensors.set(`${precision}/logprobs`, { shape, values: logprobs });
    tensors.set(`${precision}/refLogprobs`, { shape, values: refLogprobs });
    for (const [objective, settings] of Object.entries({ plain: PLAIN, all: ALL })) {
      policy.writeWeights(begun);
      policy.load(batch.record, batch.given);
      await policy.learn(
        Int32Array.from({ length: rows }, (_, row) => row),
        settings,
        GRADIENT,
        1,
      );
      add(`${precision}/gradient/${objective}`, (await policy.readState()).policy.adamM);
    }
    policy.writeWeights(begun);
    policy.load(batch.record, batch.given);
    for (const minibatch of batch.minibatches) await policy.learn(Int32Array.from(minibatch), ALL, STEP, 1);
    add(`${precision}/after`, (await policy.readState()).policy.weights);
    policy.destroy();
  }
  const { record, given, minibatches } = batch;
  for (const [key, values] of Object.entries({ ...given, tokens: record.tokens })) {
    tensors.set(key, { shape: [rows, length], values: values });
  }
  mkdirSync(path.join(out, name), { recursive: true });
  const files = peftFiles(model, adapters, begun, null);
  for (const [file, bytes] of files) writeFileSync(path.join(out, name, file), bytes);
  writeFileSync(path.join(out, name, 'training.safetensors'), new Uint8Array(encodeSafetensors(tensors)));
  writeFileSync(path.join(out, name, 'settings.json'), JSON.stringify({ plain: PLAIN, all: ALL, step: STEP, minibatches, rank: adapters.rank, alpha: adapters.alpha, spread })); // prettier-ignore
}

copySmall('models', out);
for (const name of ['llama', 'qwen2', 'qwen3']) {
  const opened = await openFolderCheckpoint((file) => {
    const at = path.join(out, 'models', name, file);
    return existsSync(at) ? onDisk(at) : null;
  });
  const critic = name === 'qwen2' ? 'shared' : 'none';
  await writeTraining(name, opened, { critic, adapters: ADAPTERS, spread: 0.5 }, manyRows);
}
if (process.env['SLOW_CASES']) {
  const opened = await openGgufCheckpoint(onDisk(smollm2()));
  const adapters = { ...ADAPTERS, rank: 8, alpha: 16 };
  await writeTraining('smollm2', opened, { critic: 'none', adapters, spread: 0.05 }, oneRow);
}
