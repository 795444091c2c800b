import { initialWeights, type ModelConfig, type Weights } from '../../src/model/architecture.ts';
import type { PolicySpec } from '../../src/model/policy.ts';
import type {
  CreditSettings,
  MaskSwitches,
  ObjectiveSettings,
  OptimizerSettings,
} from '../../src/model/learningSettings.ts';
import { Purpose, random } from '../../src/base/rng.ts';
import type { Grammar, TokenRecord } from '../../src/domain/tokens.ts';

/** Sizes that fit no tile: odd vocabulary and widths, three query heads a key head, head size 12. */
export const ODD: ModelConfig = {
  vocab_size: 131,
  hidden_size: 72,
  intermediate_size: 101,
  num_hidden_layers: 2,
  num_attention_heads: 6,
  num_key_value_heads: 2,
  head_dim: 12,
  rms_norm_eps: 1e-5,
  rope_theta: 10000,
  attention_bias: true,
  tie_word_embeddings: false,
  value_head: false,
};
/** The least model with every part; norms, the final one included, fit into the products that follow them. */
export const SMALL: ModelConfig = {
  ...ODD,
  vocab_size: 16,
  hidden_size: 16,
  intermediate_size: 24,
  num_attention_heads: 2,
  num_key_value_heads: 1,
  head_dim: 8,
  attention_bias: false,
  tie_word_embeddings: true,
};

/** SMALL with biases, grouped heads and a vocabulary that splits into vectors of four, its halves do not. */
export const EVEN: ModelConfig = {
  ...SMALL,
  vocab_size: 20,
  hidden_size: 32,
  num_attention_heads: 4,
  num_key_value_heads: 2,
  attention_bias: true,
};

export const OBJECTIVE: ObjectiveSettings = {
  surrogate: 'clipped',
  clipLow: 0.2,
  clipHigh: 0.28,
  dualClip: 3,
  klEstimator: 'k3',
  klTimesRatio: 'off',
  observationLoss: 0,
  teacherCoef: 0,
  klCoef: 0.05,
  entropyCoef: 0.01,
  valueCoef: 0.5,
  valueClip: 0.5,
  aggregation: 'seq-mean-token-mean',
};
export const OPTIMIZER: OptimizerSettings = {
  learningRate: 1e-3,
  criticLearningRate: 2e-3,
  beta1: 0.9,
  beta2: 0.999,
  eps: 1e-5,
  weightDecay: 0.1,
  maxGradNorm: 1,
  criticOnly: false,
};
/** All six switches alike. */
export function masks(on: boolean): MaskSwitches {
  return { advantage: on, whiten: on, value: on, klReward: on, policy: on, regularizer: on };
}

export const CREDIT: CreditSettings = {
  estimator: 'gae',
  gamma: 0.97,
  lambda: 0.9,
  turnGamma: 0.95,
  stateWeight: 1,
  divideByStd: true,
  whiten: true,
  remask: true,
  klCoef: 0,
  klEstimator: 'k1',
  scale: 1,
  trainTurns: 'all',
  choicesOnly: false,
  masks: masks(true),
};

export function specOf(
  model: ModelConfig,
  critic: PolicySpec['critic'],
  rows: number,
  length: number,
  minibatchRows = rows,
): PolicySpec {
  return { model: { ...model, value_head: critic === 'shared' }, critic, rows, length, minibatchRows };
}

/** A grammar of two drawing states, each with about two thirds of the tokens legal; state 0 is free. */
export function someGrammar(V: number): Grammar {
  const next = new Int32Array(3 * V);
  for (let v = 0; v < V; v++) {
    next[V + v] = v % 3 === 1 ? -1 : 2;
    next[2 * V + v] = v % 3 === 2 ? -1 : 1;
  }
  return { states: 3, vocabulary: V, next, stop: new Uint8Array(3) };
}

/** Rows of a prompt, then agent and observation spans, then padding; agent tokens are legal in the state they claim. */
export function someRecord(spec: PolicySpec, grammar: Grammar): TokenRecord {
  const { rows: B, length: T, model } = spec;
  const draw = random(5, Purpose.environment);
  const record = { tokens: new Int32Array(B * T), roles: new Uint8Array(B * T), states: new Uint8Array(B * T) };
  for (let b = 0; b < B; b++) {
    const end = b === 0 ? T : T - draw.int(Math.ceil(T / 2));
    for (let t = 0; t < end; t++) {
      const at = b * T + t;
      const action = t > 1 && draw.next() < 0.6;
      record.roles[at] = t < 2 ? 1 : action ? 2 : 3;
      record.tokens[at] = draw.int(model.vocab_size);
      if (!action || t < 2) continue;
      const state = 1 + draw.int(grammar.states - 1);
      record.states[at] = state;
      while (grammar.next[state * grammar.vocabulary + record.tokens[at]]! < 0) {
        record.tokens[at] = draw.int(model.vocab_size);
      }
    }
  }
  return record;
}

/** Weights with nothing left at its initial zero or one, so that no gradient hides. */
export function roughWeights(model: ModelConfig, seed: number): Weights {
  const draw = random(seed, Purpose.shuffle);
  return new Map([...initialWeights(model, seed)].map(([name, w]) => [name, w.map((x) => x + 0.1 * draw.normal())]));
}

/** Rewards on some agent tokens. */
export function someRewards(record: TokenRecord): Float32Array {
  const draw = random(6, Purpose.environment);
  return Float32Array.from(record.roles, (role) => (role === 2 && draw.next() < 0.2 ? draw.normal() : 0));
}
