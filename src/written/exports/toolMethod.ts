import type { PythonTool } from './pythonNames.ts';
import { docstring, docstringSentence, pythonString } from './pythonText.ts';

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
