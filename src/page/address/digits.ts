/** Whether a decimal text has exactly this value. False if reading it had to round. */
export function writesExactly(text: string, value: number): boolean {
  return digitsOf(text) === digitsOf(String(value));
}

/** A number's sign, its digits without leading and trailing zeros, and the exponent of its last digit. */
function digitsOf(text: string): string {
  const [mantissa = '', exponent = '0'] = text.toLowerCase().split('e');
  const [whole = '', fraction = ''] = mantissa.replace('-', '').split('.');
  const digits = (whole + fraction).replace(/^0+/, '');
  const significant = digits.replace(/0+$/, '');
  if (significant === '') return '0';
  const last = Number(exponent) - fraction.length + digits.length - significant.length;
  return `${mantissa.startsWith('-') ? '-' : ''}${significant}e${last}`;
}
