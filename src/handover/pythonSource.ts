import type { PythonTool } from './pythonNames.ts';

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
function docstringSentence(text: string): string {
  return text.replace(/\b(Args|Returns|Raises|choices):/gi, '$1 –');
}

function escaped(literal: string): string {
  return literal.replace(/[\p{C}\p{Zl}\p{Zp}]/gu, (hidden) => {
    const code = (hidden.codePointAt(0) ?? 0).toString(16);
    return code.length > 4 ? `\\U${code.padStart(8, '0')}` : `\\u${code.padStart(4, '0')}`;
  });
}

/** A tool's signature in Python, with `self`: `guess(self, word: str) -> str`. */
export function signature({ name, parameters }: PythonTool): string {
  const list = parameters.map((each) => `${each.name}: ${typeHint(each.parameter)}`);
  return `${name}(${['self', ...list].join(', ')}) -> str`;
}

/** The docstring of a tool's method, from which TRL, verl and verifiers make the schema that the model reads. */
export function methodDocstring({ tool, parameters }: PythonTool): string {
  const argumentLines = parameters.map(({ name, parameter }) => {
    const description = typeof parameter === 'string' ? undefined : parameter.description;
    return `    ${name}: ${docstringSentence(description ?? name)}`; // every parameter needs a description
  });
  const section = argumentLines.length > 0 ? ['', 'Args:', ...argumentLines] : [];
  return docstring([docstringSentence(tool.description || tool.name), ...section], 8);
}

/** The arguments of `Episode.call` for a tool: `"guess", {"word": word}`. */
export function callArguments({ tool, parameters }: PythonTool): string {
  const values = parameters.map(
    ({ name, parameter }) => `${pythonString(typeof parameter === 'string' ? parameter : parameter.name)}: ${name}`,
  );
  return `${pythonString(tool.name)}, {${values.join(', ')}}`;
}

const TYPES: Readonly<Record<string, string>> = { string: 'str', integer: 'int', number: 'float', boolean: 'bool' };

function typeHint(parameter: PythonTool['parameters'][number]['parameter']): string {
  if (typeof parameter === 'string') return 'str';
  if (parameter.enum) return `Literal[${parameter.enum.map((each) => pythonString(String(each))).join(', ')}]`;
  return TYPES[String(parameter.type)] ?? 'str';
}
