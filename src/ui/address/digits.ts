/** Whether a decimal text writes this very number, to the last digit: false where reading it had to round. */
export function writesExactly(text: string, value: number): boolean {
  return digitsOf(text) === digitsOf(String(value));
}

/** Digits without zeros at either end, and the exponent that the last one has. */
function digitsOf(text: string): string {
  const [mantissa = '', exponent = '0'] = text.toLowerCase().split('e');
  const [whole = '', fraction = ''] = mantissa.replace('-', '').split('.');
  const digits = (whole + fraction).replace(/^0+/, '');
  const kept = digits.replace(/0+$/, '');
  if (kept === '') return '0';
  const last = Number(exponent) - fraction.length + digits.length - kept.length;
  return `${mantissa.startsWith('-') ? '-' : ''}${kept}e${last}`;
}
