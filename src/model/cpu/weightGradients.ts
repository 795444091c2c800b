import type { Arithmetic } from './arithmetic.ts';
import type { NetworkTensors } from './network.ts';
import type { Real } from '../learning/real.ts';
import type { InTurn } from './team/team.ts';
import type { LayerSink } from './transformer.ts';

/** The weights that a backward pass computes gradients of, and where it adds them: all weights of a network, or adapters. */
export interface WeightGradients {
  readonly head: Real | null; // (V,d); null: not computed, as for `embed`
  readonly embed: Real | null; // (V,d)
  readonly norm: Real; // (d) of the norm after the last layer
  readonly layer: (index: number, inTurn: InTurn) => LayerSink;
}

/** Gradients of all weights. `tensors` are views of the pool that they are added to. */
export function allGradients({ matmulTN }: Arithmetic, tensors: NetworkTensors): WeightGradients {
  return {
    head: tensors.head,
    embed: tensors.embed,
    norm: tensors.norm,
    layer: (index, inTurn) => {
      const layer = tensors.layers[index]!;
      return {
        ...layer,
        inTurn,
        matrix: (which, dy, x, rows) =>
          inTurn(() => matmulTN(layer[which], dy, x, dy.length / rows, x.length / rows, rows)),
      };
    },
  };
}
