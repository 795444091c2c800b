const DECIMAL = /^-?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d{1,4})?$/i;

/** Finite, with a fraction or an exponent of ten (12, .5, 1e-3). Null for blanks, hex, Infinity, or beyond a double's range. */
export function parseDecimal(text: string): number | null {
  if (!DECIMAL.test(text)) return null;
  const value = Number(text);
  if (!Number.isFinite(value)) return null;
  if (value !== 0) return value;
  return /[1-9]/.test(text.replace(/e.*$/i, '')) ? null : 0; // null if a number that was not written as zero became 0
}
