/** Whether a decimal text writes this very number, to the last digit: false where reading it had to round. */
export function writesExactly(text: string, value: number): boolean {
  return digitsOf(text) === digitsOf(String(value));
}

/** Digits without zeros at either end, and the exponent that the last one has. */
function digitsOf(text: string): string {
  const [mantissa = '', exponent = '0'] = text.toLowerCase().split('e');
  const [whole = '', fraction = ''] = mantissa.replace('-', '').split('.');
  const digits = (whole + fraction).replace(/^0+/, '');
  const significant = digits.replace(/0+$/, '');
  if (significant === '') return '0';
  const last = Number(exponent) - fraction.length + digits.length - significant.length;
  return `${mantissa.startsWith('-') ? '-' : ''}${significant}e${last}`;
}
