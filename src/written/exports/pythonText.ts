// Writes texts as Python source.

/**
 * A text as a Python string literal. Invisible characters, and characters that change the writing direction, are
 * escaped.
 */
export function pythonString(text: string): string {
  return escaped(JSON.stringify(text)); // JSON's escapes mean the same in Python
}

/** Lines as a Python docstring, indented by `indent` blanks. */
export function docstring(lines: readonly string[], indent: number): string {
  const [first = '', ...rest] = lines.map((line) => escaped(JSON.stringify(line)).slice(1, -1));
  const margin = ' '.repeat(indent);
  if (rest.length === 0) return `${margin}"""${first}"""`;
  return [`${margin}"""${first}`, ...rest.map((line) => (line ? margin + line : '')), `${margin}"""`].join('\n');
}

/**
 * Prepares a sentence for a docstring from which TRL and verl make a tool's schema. The colon after a word that would
 * begin a section there (such as `Args:`), and after `choices`, becomes a dash.
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
