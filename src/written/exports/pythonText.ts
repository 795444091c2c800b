// Texts as Python source.

/** A text as a string literal of Python. Characters that can't be seen, and those that change a line's direction, are escaped. */
export function pythonString(text: string): string {
  return escaped(JSON.stringify(text)); // JSON's escapes mean the same in Python
}

/** Lines as a docstring of Python, indented by so many blanks. */
export function docstring(lines: readonly string[], indent: number): string {
  const [first = '', ...rest] = lines.map((line) => escaped(JSON.stringify(line)).slice(1, -1));
  const margin = ' '.repeat(indent);
  if (rest.length === 0) return `${margin}"""${first}"""`;
  return [`${margin}"""${first}`, ...rest.map((line) => (line ? margin + line : '')), `${margin}"""`].join('\n');
}

/**
 * A sentence as it can stand in a docstring that TRL and verl read a tool's schema from: words that begin a section there
 * (`Args:`), and `(choices: …)` at the end, lose their colon.
 */
export function docstringSentence(text: string): string {
  return text.replace(/\b(Args|Returns|Raises|choices):/gi, '$1 –');
}

function escaped(literal: string): string {
  return literal.replace(/[\p{C}\p{Zl}\p{Zp}]/gu, (hidden) => {
    const code = (hidden.codePointAt(0) ?? 0).toString(16);
    return code.length > 4 ? `\\U${code.padStart(8, '0')}` : `\\u${code.padStart(4, '0')}`;
  });
}
