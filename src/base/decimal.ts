const DECIMAL = /^-?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d{1,4})?$/i;

/**
 * The finite number a text writes in decimal digits, with a fraction or an exponent of ten if need be (12, .5, 1e-3); null for
 * any other text, such as blanks, hex, Infinity, and numbers too large or too close to zero to be held.
 */
export function decimal(text: string): number | null {
  if (!DECIMAL.test(text)) return null;
  const value = Number(text);
  if (!Number.isFinite(value)) return null;
  if (value !== 0) return value;
  return /[1-9]/.test(text.replace(/e.*$/i, '')) ? null : 0; // lost on the way, not written as zero
}
