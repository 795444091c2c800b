const DECIMAL = /^-?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d{1,4})?$/i;

/**
 * Reads a finite decimal number, which may have a fraction or an exponent of ten (12, .5, 1e-3). Null for any other
 * text, such as blanks, hex, Infinity, and numbers too large or too close to zero for a double.
 */
export function parseDecimal(text: string): number | null {
  if (!DECIMAL.test(text)) return null;
  const value = Number(text);
  if (!Number.isFinite(value)) return null;
  if (value !== 0) return value;
  return /[1-9]/.test(text.replace(/e.*$/i, '')) ? null : 0; // null if a number that was not written as zero became 0
}
