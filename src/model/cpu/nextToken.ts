import type { Real } from '../learning/real.ts';

export interface NextToken {
  readonly logits: Real; // (V)
  readonly exponentials: Real; // (V) e^((logit − largest)/temperature)
  readonly total: number; // sum of the exponentials
  readonly largest: number; // largest logit
  readonly temperature: number;
}

/** Computes e (V) = exp((z − max z)/temperature) and returns max z. */
export function exponentials(e: Real, z: Real, temperature: number): number {
  let largest = -Infinity;
  for (const x of z) if (x > largest) largest = x;
  for (let k = 0; k < z.length; k++) e[k] = Math.exp((z[k]! - largest) / temperature);
  return largest;
}

/** Returns the prediction for `logits` (V). Writes the exponentials to `out` (V) and sums them in float64. */
export function nextToken(
  arithmetic: { readonly exponentials: typeof exponentials },
  logits: Real,
  out: Real,
  temperature: number,
): NextToken {
  const largest = arithmetic.exponentials(out, logits, temperature);
  let total = 0;
  for (const e of out) total += e;
  return { logits, exponentials: out, total, largest, temperature };
}

export function logprobOf({ logits, total, largest, temperature }: NextToken, id: number): number {
  return (logits[id]! - largest) / temperature - Math.log(total);
}
