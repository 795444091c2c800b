import type { ModelConfig } from '../architecture.ts';
import type { attend, attendBackward } from './attention.ts';
import type { addInto, rmsNormBackward, swiglu, swigluBackward } from './layers.ts';
import type { Precision, Real } from './real.ts';

/** A product of matrices with the sizes n, o, k. */
type Product = (y: Real, x: Real, w: Real, n: number, o: number, k: number) => void;

/**
 * The heavy loops of one model and the memory they work on: every array given to one of the functions comes from `reals` or
 * `integers` of the same object, or is a part of one. A row's results have the same bits whatever rows are computed with it.
 */
export interface Arithmetic {
  readonly model: ModelConfig;
  readonly precision: Precision;
  readonly name: string; // as a person would name it
  readonly reals: (size: number) => Real; // zeros
  readonly integers: (size: number) => Int32Array; // zeros
  readonly matmulNT: Product; // matmul.ts says what each is
  readonly matmulNN: Product;
  readonly matmulTN: Product;
  readonly attend: WithoutLast<typeof attend>; // attention.ts, with the model's shape
  readonly attendBackward: WithoutLast<typeof attendBackward>;
  readonly rmsNorm: (y: Real, scales: Real, x: Real, weight: Real, n: number) => void; // layers.ts, with the model's d and eps
  readonly rmsNormBackward: WithoutLast<typeof rmsNormBackward>;
  readonly rotate: (x: Real, positions: Int32Array, table: Real, n: number, direction: 1 | -1) => void; // q and k of qkv rows
  readonly swiglu: typeof swiglu;
  readonly swigluBackward: typeof swigluBackward;
  readonly addInto: typeof addInto;
}

/** What is left to give when a function's last argument is known. */
type WithoutLast<F> = F extends (...args: [...infer Rest, infer _]) => void ? (...args: Rest) => void : never;
