import { qkvWidth, type AttentionShape } from '../../attentionShape.ts';
import {
  add,
  constant,
  convert,
  div,
  load,
  loadInteger,
  loadSplat,
  mul,
  plus,
  splatInteger,
  squareRoot,
  sub,
  times,
  type Integer,
  type Lanes,
  type Local,
} from './instructions.ts';
import { routine, type Routine } from './routine.ts';
import { combineLanes, exponential } from './sums.ts';

const VECTOR_SIZES = [4, 1] as const;

/** Sums `term` over a row of `width` numbers. Returns a vector with the sum in every lane. */
function sumOfRow(
  f: Routine,
  width: Integer,
  term: (at: Local<'i32'>, lanes: Lanes) => ReturnType<typeof mul>,
): Local<'v128'> {
  const sum = f.let(constant(0));
  f.blocks(width, VECTOR_SIZES, (at, lanes) => f.set(sum, add(sum, term(at, lanes))));
  return combineLanes(f, sum, add);
}

/** Computes y (n,d) = x · rsqrt(mean(x²) + eps) · weight. Writes rsqrt(…) of each row to `scales` (n). */
export const rmsNorm = (d: number, eps: number) =>
  routine(['y', 'scales', 'x', 'weight', 'n'], 'rmsNorm', (f, { y, scales, x, weight, n }) => {
    f.loop(0, n, 1, () => {
      const squares = sumOfRow(f, d, (at, lanes) => {
        const v = f.let(load(plus(x, at), lanes));
        return mul(v, v);
      });
      const mean = add(div(squares, constant(d)), constant(eps));
      const scale = f.let(div(constant(1), squareRoot(mean)));
      f.store(scales, scale, 1);
      f.blocks(d, VECTOR_SIZES, (at, lanes) => {
        const normed = mul(load(plus(x, at), lanes), scale);
        f.store(plus(y, at), mul(normed, load(plus(weight, at), lanes)), lanes);
      });
      f.set(x, plus(x, 4 * d));
      f.set(y, plus(y, 4 * d));
      f.set(scales, plus(scales, 4));
    });
  });

/** Normalizes in place each head of q and k in rows of qkv by RMSNorm; see `normHeads` in arithmetic.ts. */
export const normHeads = (shape: AttentionShape, eps: number) =>
  routine(['qkv', 'qWeight', 'kWeight', 'n'], 'normHeads', (f, { qkv, qWeight, kWeight, n }) => {
    const { heads, kvHeads, headDim } = shape;
    f.loop(0, n, 1, () => {
      const head = f.let(plus(qkv, 0));
      for (const [weight, count] of [
        [qWeight, heads],
        [kWeight, kvHeads],
      ] as const) {
        // prettier-ignore
        f.loop(0, count, 1, () => {
          const squares = sumOfRow(f, headDim, (at, lanes) => {
            const v = f.let(load(plus(head, at), lanes));
            return mul(v, v);
          });
          const mean = add(div(squares, constant(headDim)), constant(eps));
          const scale = f.let(div(constant(1), squareRoot(mean)));
          f.blocks(headDim, VECTOR_SIZES, (at, lanes) => {
            const normed = mul(load(plus(head, at), lanes), scale);
            f.store(plus(head, at), mul(normed, load(plus(weight, at), lanes)), lanes);
          });
          f.set(head, plus(head, 4 * headDim));
        });
      }
      f.set(qkv, plus(qkv, 4 * qkvWidth(shape)));
    });
  });

/**
 * The backward pass of `normHeads`, in place: replaces in dqkv the gradient of the normalized heads of q and k by the
 * gradient of the heads before normalization, which `qkv` holds, and adds the gradients of the weights. With s the
 * scale of a head, dx = s·(w·dy) − x·s³/D·Σ w·dy·x and dw += Σ dy·x·s.
 */
export const normHeadsBackward = (shape: AttentionShape, eps: number) =>
  routine(
    ['dqkv', 'dqWeight', 'dkWeight', 'qkv', 'qWeight', 'kWeight', 'n'],
    'normHeadsBackward',
    (f, { dqkv, dqWeight, dkWeight, qkv, qWeight, kWeight, n }) => {
      const { heads, kvHeads, headDim } = shape;
      f.loop(0, n, 1, () => {
        const x = f.let(plus(qkv, 0));
        const dx = f.let(plus(dqkv, 0));
        for (const [weight, dweight, count] of [
          [qWeight, dqWeight, heads],
          [kWeight, dkWeight, kvHeads],
        ] as const) {
          f.loop(0, count, 1, () => {
            const squares = sumOfRow(f, headDim, (at, lanes) => {
              const v = f.let(load(plus(x, at), lanes));
              return mul(v, v);
            });
            const mean = add(div(squares, constant(headDim)), constant(eps));
            const scale = f.let(div(constant(1), squareRoot(mean)));
            const dot = sumOfRow(f, headDim, (at, lanes) => {
              const gx = f.let(mul(load(plus(dx, at), lanes), load(plus(x, at), lanes)));
              f.store(plus(dweight, at), add(load(plus(dweight, at), lanes), mul(gx, scale)), lanes);
              return mul(gx, load(plus(weight, at), lanes));
            });
            const cubed = mul(mul(scale, scale), scale);
            const pull = f.let(div(mul(dot, cubed), constant(headDim)));
            f.blocks(headDim, VECTOR_SIZES, (at, lanes) => {
              const direct = mul(mul(scale, load(plus(weight, at), lanes)), load(plus(dx, at), lanes));
              f.store(plus(dx, at), sub(direct, mul(load(plus(x, at), lanes), pull)), lanes);
            });
            f.set(x, plus(x, 4 * headDim));
            f.set(dx, plus(dx, 4 * headDim));
          });
        }
        f.set(qkv, plus(qkv, 4 * qkvWidth(shape)));
        f.set(dqkv, plus(dqkv, 4 * qkvWidth(shape)));
      });
    },
  );

/** With s the saved scale, dx (n,d) += s·(w·dy) − x·s³/d·Σ w·dy·x and dweight (d) += Σ dy·x·s. */
export const rmsNormBackward = (d: number) =>
  routine(
    ['dx', 'dweight', 'dy', 'x', 'scales', 'weight', 'n'],
    'rmsNormBackward',
    (f, { dx, dweight, dy, x, scales, weight, n }) => {
      f.loop(0, n, 1, () => {
        const scale = f.let(loadSplat(scales));
        const dot = sumOfRow(f, d, (at, lanes) => {
          const gx = f.let(mul(load(plus(dy, at), lanes), load(plus(x, at), lanes)));
          f.store(plus(dweight, at), add(load(plus(dweight, at), lanes), mul(gx, scale)), lanes);
          return mul(gx, load(plus(weight, at), lanes));
        });
        const cubed = mul(mul(scale, scale), scale);
        const pull = f.let(div(mul(dot, cubed), constant(d)));
        f.blocks(d, VECTOR_SIZES, (at, lanes) => {
          const direct = mul(mul(scale, load(plus(weight, at), lanes)), load(plus(dy, at), lanes));
          const change = sub(direct, mul(load(plus(x, at), lanes), pull));
          f.store(plus(dx, at), add(load(plus(dx, at), lanes), change), lanes);
        });
        f.set(dx, plus(dx, 4 * d));
        f.set(dy, plus(dy, 4 * d));
        f.set(x, plus(x, 4 * d));
        f.set(scales, plus(scales, 4));
      });
    },
  );

/** out (n,F) = silu(gate) · up. Each row of gateUp (n,2F) holds gate, then up. `sigmoid` (n,F) gets σ(gate). */
export const swiglu = routine(['out', 'sigmoid', 'gateUp', 'n', 'width'], 'swiglu', (f, p) => {
  const row = f.let(times(p.width, 4));
  f.loop(0, p.n, 1, () => {
    const up = f.let(plus(p.gateUp, row));
    f.blocks(p.width, VECTOR_SIZES, (at, lanes) => {
      const gate = f.let(load(plus(p.gateUp, at), lanes));
      const e = exponential(f, sub(constant(0), gate));
      const s = f.let(div(constant(1), add(constant(1), e)));
      f.store(plus(p.sigmoid, at), s, lanes);
      f.store(plus(p.out, at), mul(mul(gate, s), load(plus(up, at), lanes)), lanes);
    });
    f.set(p.gateUp, plus(up, row));
    f.set(p.sigmoid, plus(p.sigmoid, row));
    f.set(p.out, plus(p.out, row));
  });
});

/** dgateUp (n,2F) from dout (n,F). The derivative of silu(g) is σ·(1 + g·(1 − σ)). */
export const swigluBackward = routine(
  ['dgateUp', 'dout', 'sigmoid', 'gateUp', 'n', 'width'],
  'swigluBackward',
  (f, p) => {
    const row = f.let(times(p.width, 4));
    f.loop(0, p.n, 1, () => {
      const up = f.let(plus(p.gateUp, row));
      const dup = f.let(plus(p.dgateUp, row));
      f.blocks(p.width, VECTOR_SIZES, (at, lanes) => {
        const gate = f.let(load(plus(p.gateUp, at), lanes));
        const s = f.let(load(plus(p.sigmoid, at), lanes));
        const g = f.let(load(plus(p.dout, at), lanes));
        const slope = mul(s, add(constant(1), mul(gate, sub(constant(1), s))));
        f.store(plus(p.dgateUp, at), mul(mul(g, load(plus(up, at), lanes)), slope), lanes);
        f.store(plus(dup, at), mul(mul(g, gate), s), lanes);
      });
      f.set(p.gateUp, plus(up, row));
      f.set(p.dgateUp, plus(dup, row));
      f.set(p.sigmoid, plus(p.sigmoid, row));
      f.set(p.dout, plus(p.dout, row));
    });
  },
);

/** Rotates the heads of q and k in place. Row p of the table holds position p's D/2 cosines, then its D/2 sines. −1 rotates back. */
export const rotate = (shape: AttentionShape) =>
  routine(['x', 'positions', 'table', 'n', 'direction'], 'rotate', (f, { x, positions, table, n, direction }) => {
    const { heads, kvHeads, headDim } = shape;
    const half = 2 * headDim; // bytes
    const sign = f.let(convert(splatInteger(direction)));
    f.loop(0, n, 1, (i) => {
      const angles = f.let(plus(table, times(loadInteger(plus(positions, times(i, 4))), 2 * half)));
      const head = f.let(plus(x, times(i, 4 * qkvWidth(shape))));
      f.loop(0, heads + kvHeads, 1, () => {
        f.blocks(headDim / 2, VECTOR_SIZES, (at, lanes) => {
          const cosine = f.let(load(plus(angles, at), lanes));
          const sine = f.let(mul(sign, load(plus(angles, at), lanes, half)));
          const a = f.let(load(plus(head, at), lanes));
          const b = f.let(load(plus(head, at), lanes, half));
          f.store(plus(head, at), sub(mul(a, cosine), mul(b, sine)), lanes);
          f.store(plus(head, at), add(mul(b, cosine), mul(a, sine)), lanes, half);
        });
        f.set(head, plus(head, 2 * half));
      });
    });
  });

/** Computes y = a + b for the first `size` numbers. y may be the same array as a. */
export const addInto = routine(['y', 'a', 'b', 'size'], 'addInto', (f, { y, a, b, size }) => {
  f.blocks(size, VECTOR_SIZES, (at, lanes) =>
    f.store(plus(y, at), add(load(plus(a, at), lanes), load(plus(b, at), lanes)), lanes),
  );
});

/** Adds n rows of `width` numbers: row i of `from` to row i of `to`. With a stride of 0 bytes, all rows are the first. */
export const addRows = routine(
  ['to', 'toStride', 'from', 'fromStride', 'n', 'width'],
  'addRows',
  (f, { to, toStride, from, fromStride, n, width }) => {
    f.loop(0, n, 1, () => {
      f.blocks(width, VECTOR_SIZES, (at, lanes) =>
        f.store(plus(to, at), add(load(plus(to, at), lanes), load(plus(from, at), lanes)), lanes),
      );
      f.set(to, plus(to, toStride));
      f.set(from, plus(from, fromStride));
    });
  },
);

/** Fills y (size) with zeros. */
export const clear = routine(['y', 'size'], 'clear', (f, { y, size }) => {
  f.blocks(size, VECTOR_SIZES, (at, lanes) => f.store(plus(y, at), constant(0), lanes));
});

/** Copies x to y; both have `size` numbers. */
export const copy = routine(['y', 'x', 'size'], 'copy', (f, { y, x, size }) => {
  f.blocks(size, VECTOR_SIZES, (at, lanes) => f.store(plus(y, at), load(plus(x, at), lanes), lanes));
});

/** Copies row ids[i] of `table` to row i of `out`, for i < n. Rows have `width` numbers. */
export const gatherRows = routine(
  ['out', 'table', 'ids', 'n', 'width'],
  'gatherRows',
  (f, { out, table, ids, n, width }) => {
    const row = f.let(times(width, 4));
    f.loop(0, n, 1, (i) => {
      const from = f.let(plus(table, times(loadInteger(plus(ids, times(i, 4))), row)));
      f.blocks(width, VECTOR_SIZES, (at, lanes) => f.store(plus(out, at), load(plus(from, at), lanes), lanes));
      f.set(out, plus(out, row));
    });
  },
);

/** Copies keys and values of n rows of qkv to rows first[i] + counts[i] − 1 of `keys` and `values` (…, kvH·D). */
export const storeKeys = ({ heads, kvHeads, headDim }: AttentionShape) =>
  routine(
    ['keys', 'values', 'qkv', 'first', 'counts', 'n'],
    'storeKeys',
    (f, { keys, values, qkv, first, counts, n }) => {
      const [inner, width] = [4 * heads * headDim, 4 * kvHeads * headDim];
      f.loop(0, n, 1, (i) => {
        const end = plus(loadInteger(plus(first, times(i, 4))), loadInteger(plus(counts, times(i, 4))));
        const row = f.let(times(plus(end, -1), width));
        f.blocks(kvHeads * headDim, VECTOR_SIZES, (at, lanes) => {
          f.store(plus(plus(keys, row), at), load(plus(qkv, at), lanes, inner), lanes);
          f.store(plus(plus(values, row), at), load(plus(qkv, at), lanes, inner + width), lanes);
        });
        f.set(qkv, plus(qkv, inner + 2 * width));
      });
    },
  );
