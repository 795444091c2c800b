import type { Real } from './real.ts';

/** What the model says of one next token: logits (V), e^((logit − largest)/temperature) of each, and the sum of those. */
export interface NextToken {
  readonly logits: Real;
  readonly exponentials: Real;
  readonly total: number;
  readonly largest: number; // of the logits
  readonly temperature: number;
}

/** e (V) = exp((z − max z)/temperature); returns max z. */
export function exponentials(e: Real, z: Real, temperature: number): number {
  let largest = -Infinity;
  for (const x of z) if (x > largest) largest = x;
  for (let k = 0; k < z.length; k++) e[k] = Math.exp((z[k]! - largest) / temperature);
  return largest;
}

/** The same with their sum, in float64, `made` being room for the exponentials. */
export function nextToken(
  by: { readonly exponentials: typeof exponentials },
  logits: Real,
  made: Real,
  temperature: number,
): NextToken {
  const largest = by.exponentials(made, logits, temperature);
  let total = 0;
  for (const e of made) total += e;
  return { logits, exponentials: made, total, largest, temperature };
}

/** log p of a token, tempered. */
export function logprobOf({ logits, total, largest, temperature }: NextToken, id: number): number {
  return (logits[id]! - largest) / temperature - Math.log(total);
}
