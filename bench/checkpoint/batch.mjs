// The batch that an update of adapters is timed on: rollouts in groups that begin alike, as those of the presets on SmolLM2 do.
import { Purpose, random } from '../../src/base/rng.ts';
import { parseConfig } from '../../src/config/config.ts';
import { PRESETS } from '../../src/config/presets.ts';
import { Role } from '../../src/domain/tokens.ts';
import { createEnv } from '../../src/envs/index.ts';
import { adapterParameters, initialAdapters, LINEAR_NAMES } from '../../src/model/loraAdapters.ts';

/**
 * @typedef {{ groups: number, group: number, common: number, question: number, own: number }} Sizes
 *   rows = groups·group; the first `common` tokens are those of all rows, the next `question` those of a group, then `own` are a row's
 * @typedef {import('../../src/checkpoints/baseCheckpoint.ts').BaseCheckpoint} Base
 */

export const ADAPTERS = { rank: 8, alpha: 16, targets: LINEAR_NAMES };
/** As the presets on SmolLM2 have it: GRPO without a reference, mean over tokens; nothing is clipped in the first step after scoring. */
export const OBJECTIVE = /** @type {const} */ ({
  ...{ surrogate: 'clipped', clipLow: 0.2, clipHigh: 0.2, dualClip: 3, klEstimator: 'k3', klCoef: 0, entropyCoef: 0 },
  ...{ valueCoef: 0, valueClip: 0.5, aggregation: 'token-mean' },
});
export const OPTIMIZER = {
  ...{ learningRate: 1e-4, criticLearningRate: 1e-4, beta1: 0.9, beta2: 0.999, eps: 1e-8, weightDecay: 0 },
  ...{ maxGradNorm: 1, criticOnly: false },
};
const SEED = 7;
const SPECIAL = 17; // ids of SmolLM2 that are no text

/** Prompts of the calculator's tasks, in ids. @param {Base} base @param {number} count */
function prompts(base, count) {
  const config = parseConfig({ ...PRESETS['smollm2-calculator'].set });
  const env = createEnv(config, null, base.chatTokenizer);
  const settings = { ...config, grammar: false, rewardOnLastAction: true, retokenize: false };
  return Array.from({ length: count }, (_, i) => env.reset(SEED + i, settings).prompt);
}

/** The rows' tokens: system prompt and question of a preset cut to size, then ids drawn evenly. @param {Base} base @param {Sizes} sizes */
export function texts(base, { groups, group, common, question, own }) {
  const asked = prompts(base, groups);
  return Array.from({ length: groups * group }, (_, row) => {
    const prompt = asked[Math.floor(row / group)] ?? [];
    const draw = random(SEED, Purpose.weights, row);
    const drawn = Array.from({ length: own }, () => SPECIAL + draw.int(base.model.vocab_size - SPECIAL));
    return [...prompt.slice(0, common), ...prompt.slice(prompt.length - question), ...drawn];
  });
}

/** GRPO's advantages of rows that were paid 0 or 1: (r − mean)/std of its group. @param {Sizes} sizes */
export function advantages({ groups, group }) {
  return Array.from({ length: groups }, (_, g) => {
    /** @type {number[]} */
    const paid = Array.from({ length: group }, (_, i) => (i <= g % Math.max(1, group - 1) ? 1 : 0));
    const mean = paid.reduce((a, b) => a + b, 0) / group;
    const std = Math.sqrt(paid.reduce((sum, r) => sum + (r - mean) ** 2, 0) / Math.max(1, group - 1));
    return paid.map((r) => (r - mean) / (std + 1e-6));
  }).flat();
}

/** What a policy loads; of `only` the first rows where not all are wanted. @param {Base} base @param {Sizes} sizes @param {number} [only] */
export function batch(base, sizes, only) {
  const rows = texts(base, sizes);
  const [length, prompt] = [rows[0]?.length ?? 0, sizes.common + sizes.question];
  const size = rows.length * length;
  const record = { tokens: new Int32Array(size), roles: new Uint8Array(size), states: new Uint8Array(size) };
  const zeros = () => new Float32Array(size);
  const given = {
    ...{ oldLogprobs: zeros(), refLogprobs: zeros(), advantages: zeros(), lossMask: zeros() },
    ...{ valueMask: zeros(), oldValues: zeros(), returns: zeros() },
  };
  const paid = advantages(sizes);
  for (const [row, text] of rows.slice(0, only ?? rows.length).entries()) {
    record.tokens.set(text, row * length);
    record.roles.fill(Role.prompt, row * length, row * length + prompt);
    record.roles.fill(Role.action, row * length + prompt, (row + 1) * length);
    given.lossMask.fill(1, row * length + prompt, (row + 1) * length);
    given.advantages.fill(paid[row] ?? 0, row * length + prompt, (row + 1) * length);
  }
  return { rows: rows.length, length, prompt, record, given };
}

/** Adapters that were trained a little: B is not 0, so that A has a gradient. @param {import('../../src/model/architecture.ts').ModelConfig} model */
export function adapters(model) {
  const fresh = initialAdapters(model, ADAPTERS, SEED);
  return new Map(
    adapterParameters(model, ADAPTERS).map(({ name, size }, i) => {
      const draw = random(SEED, Purpose.weights, 1 + i, 1);
      const a = fresh.get(name) ?? new Float32Array(size);
      return [name, name.includes('lora_B') ? Float32Array.from(a, () => 0.01 * draw.normal()) : a];
    }),
  );
}
