import { Purpose, random } from '../base/rng.ts';
import { parameters, type ModelConfig, type Parameter, type Weights } from './architecture.ts';

/** Linear layers of a block that can have an adapter, by Hugging Face name. */
export const LINEAR_NAMES = ['q_proj', 'k_proj', 'v_proj', 'o_proj', 'gate_proj', 'up_proj', 'down_proj'] as const;
export type LinearName = (typeof LINEAR_NAMES)[number];

/** LoRA (Hu et al. 2021; names as in PEFT): y = x·(W + alpha/rank · B·A)ᵀ with W (out, in) frozen, A (rank, in), B (out, rank). */
export interface AdapterConfig {
  readonly rank: number; // 1–64
  readonly alpha: number;
  readonly targets: readonly LinearName[];
}

export const adapterScale = ({ rank, alpha }: AdapterConfig) => alpha / rank;

export interface AdaptedLinear {
  readonly layer: number;
  readonly linear: LinearName;
  readonly weightName: string; // Hugging Face's name of W
  readonly out: number;
  readonly in: number;
  readonly a: Parameter; // (rank, in)
  readonly b: Parameter; // (out, rank)
}

const WEIGHT_SUFFIX = '.weight';

export function adaptedLinears(model: ModelConfig, { rank, targets }: AdapterConfig): readonly AdaptedLinear[] {
  return parameters(model).flatMap(({ name, shape }): AdaptedLinear[] => {
    const match = /^model\.layers\.(\d+)\..*\.(\w+)\.weight$/.exec(name);
    const linear = LINEAR_NAMES.find((name) => name === match?.[2]);
    if (!match || !linear || !targets.includes(linear)) return [];
    const [out, fanIn] = shape as readonly [number, number];
    const baseName = name.slice(0, -WEIGHT_SUFFIX.length);
    const loraMatrix = (letter: 'A' | 'B', shape: readonly [number, number], std: number): Parameter => {
      const tensorName = `${baseName}.lora_${letter}.weight`;
      return {
        name: tensorName,
        shape,
        size: shape[0] * shape[1],
        std,
        startsAtOne: false,
        decay: true,
        group: tensorName,
      };
    };
    const a = loraMatrix('A', [rank, fanIn], 1 / Math.sqrt(3 * fanIn));
    return [
      { layer: Number(match[1]), linear, weightName: name, out, in: fanIn, a, b: loraMatrix('B', [out, rank], 0) },
    ];
  });
}

/** All trained tensors if the model itself is frozen: A and B of each adapter, then the value head if the model has one. */
export function adapterParameters(model: ModelConfig, adapters: AdapterConfig): readonly Parameter[] {
  const valueHead = parameters(model).filter(({ name }) => name.startsWith('value_head.'));
  return [...adaptedLinears(model, adapters).flatMap(({ a, b }) => [a, b]), ...valueHead];
}

/** A is uniform within ±1/√in, as in PEFT (Kaiming, a = √5). B and the value head are zero, so the model does not change yet. */
export function initialAdapters(model: ModelConfig, adapters: AdapterConfig, seed: number): Weights {
  return new Map(
    adapterParameters(model, adapters).map(({ name, size, std }, index) => {
      const rng = random(seed, Purpose.weights, index);
      const bound = Math.sqrt(3) * std;
      return [name, Float32Array.from({ length: size }, () => (std === 0 ? 0 : bound * (2 * rng.next() - 1)))];
    }),
  );
}
