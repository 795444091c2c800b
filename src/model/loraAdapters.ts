import { Purpose, random } from '../base/rng.ts';
import { parameters, type ModelConfig, type Parameter, type Weights } from './architecture.ts';

/** Linear layers of a block that can have an adapter, by Hugging Face name. */
export const LINEARS = ['q_proj', 'k_proj', 'v_proj', 'o_proj', 'gate_proj', 'up_proj', 'down_proj'] as const;
export type Linear = (typeof LINEARS)[number];

/**
 * Low-rank adapters (LoRA, Hu et al. 2021; names as in PEFT). Each target W (out, in) gets two matrices A (rank, in)
 * and B (out, rank), so that y = x·(W + alpha/rank · B·A)ᵀ. W is not trained.
 */
export interface AdapterConfig {
  readonly rank: number; // 1–64
  readonly alpha: number;
  readonly targets: readonly Linear[];
}

/** The factor of B·A. */
export const adapterScale = ({ rank, alpha }: AdapterConfig) => alpha / rank;

/** A linear layer with an adapter. */
export interface Adapted {
  readonly layer: number;
  readonly linear: Linear;
  readonly weight: string; // Hugging Face's name of W
  readonly out: number;
  readonly in: number;
  readonly a: Parameter; // (rank, in)
  readonly b: Parameter; // (out, rank)
}

const WEIGHT_SUFFIX = '.weight';

/** The linear layers with an adapter, layer by layer. */
export function adapted(model: ModelConfig, { rank, targets }: AdapterConfig): readonly Adapted[] {
  return parameters(model).flatMap(({ name, shape }): Adapted[] => {
    const found = /^model\.layers\.(\d+)\..*\.(\w+)\.weight$/.exec(name);
    const linear = LINEARS.find((each) => each === found?.[2]);
    if (!found || !linear || !targets.includes(linear)) return [];
    const [out, fanIn] = shape as readonly [number, number];
    const stem = name.slice(0, -WEIGHT_SUFFIX.length);
    const part = (letter: 'A' | 'B', shape: readonly [number, number], std: number): Parameter => {
      const tensorName = `${stem}.lora_${letter}.weight`;
      return { name: tensorName, shape, size: shape[0] * shape[1], std, one: false, decay: true, group: tensorName };
    };
    const a = part('A', [rank, fanIn], 1 / Math.sqrt(3 * fanIn));
    return [{ layer: Number(found[1]), linear, weight: name, out, in: fanIn, a, b: part('B', [out, rank], 0) }];
  });
}

/**
 * All trained tensors if the model itself is frozen: A and B of each adapter, then the value head if the model has one.
 */
export function adapterParameters(model: ModelConfig, adapters: AdapterConfig): readonly Parameter[] {
  const head = parameters(model).filter(({ name }) => name.startsWith('value_head.'));
  return [...adapted(model, adapters).flatMap(({ a, b }) => [a, b]), ...head];
}

/**
 * Initial adapters. A is uniform within ±1/√in, as in PEFT (Kaiming, a = √5). B is zero, so the model does not change
 * yet. The value head is zero.
 */
export function initialAdapters(model: ModelConfig, adapters: AdapterConfig, seed: number): Weights {
  return new Map(
    adapterParameters(model, adapters).map(({ name, size, std }, index) => {
      const draw = random(seed, Purpose.weights, index);
      const bound = Math.sqrt(3) * std;
      return [name, Float32Array.from({ length: size }, () => (std === 0 ? 0 : bound * (2 * draw.next() - 1)))];
    }),
  );
}
