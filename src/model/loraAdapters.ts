import { Purpose, random } from '../base/rng.ts';
import { parameters, type ModelConfig, type Parameter, type Weights } from './architecture.ts';

/** The linear layers of a block that an adapter can be put beside, by Hugging Face's names. */
export const LINEARS = ['q_proj', 'k_proj', 'v_proj', 'o_proj', 'gate_proj', 'up_proj', 'down_proj'] as const;
export type Linear = (typeof LINEARS)[number];

/**
 * Low-rank adapters (LoRA, Hu et al. 2021; PEFT's names): beside each target W (out, in) two matrices A (rank, in) and B (out, rank), so that
 * y = x·(W + alpha/rank · B·A)ᵀ. W stays as it is.
 */
export interface AdapterConfig {
  readonly rank: number; // 1–64
  readonly alpha: number;
  readonly targets: readonly Linear[];
}

/** What B·A is multiplied by. */
export const adapterScale = ({ rank, alpha }: AdapterConfig) => alpha / rank;

/** A linear layer with the adapter beside it, by its place in the model. */
export interface Adapted {
  readonly layer: number;
  readonly linear: Linear;
  readonly weight: string; // Hugging Face's name of W
  readonly out: number;
  readonly in: number;
  readonly a: Parameter; // (rank, in)
  readonly b: Parameter; // (out, rank)
}

const END = '.weight';

/** Every adapter of the model, layer by layer. */
export function adapted(model: ModelConfig, { rank, targets }: AdapterConfig): readonly Adapted[] {
  return parameters(model).flatMap(({ name, shape }): Adapted[] => {
    const found = /^model\.layers\.(\d+)\..*\.(\w+)\.weight$/.exec(name);
    const linear = LINEARS.find((each) => each === found?.[2]);
    if (!found || !linear || !targets.includes(linear)) return [];
    const [out, fanIn] = shape as readonly [number, number];
    const stem = name.slice(0, -END.length);
    const part = (letter: 'A' | 'B', shape: readonly [number, number], std: number): Parameter => {
      const own = `${stem}.lora_${letter}.weight`;
      return { name: own, shape, size: shape[0] * shape[1], std, one: false, decay: true, group: own };
    };
    const a = part('A', [rank, fanIn], 1 / Math.sqrt(3 * fanIn));
    return [{ layer: Number(found[1]), linear, weight: name, out, in: fanIn, a, b: part('B', [out, rank], 0) }];
  });
}

/** Every tensor that is learned beside a frozen model: A and B of each adapter, then the value head where the model has one. */
export function adapterParameters(model: ModelConfig, adapters: AdapterConfig): readonly Parameter[] {
  const head = parameters(model).filter(({ name }) => name.startsWith('value_head.'));
  return [...adapted(model, adapters).flatMap(({ a, b }) => [a, b]), ...head];
}

/**
 * Fresh adapters, which change nothing yet: A uniform within ±1/√in, as PEFT draws it (Kaiming, a = √5), B zero; the value head zero.
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
