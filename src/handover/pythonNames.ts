import { visible } from '../base/visible.ts';
import { type EnvironmentFile, EnvironmentFileError } from '../domain/environmentFile.ts';
import { type Parameter, type ToolFace, parameterName } from '../text/toolSchema.ts';
import type { ClassSettings } from '../written/classSettings.ts';
import type { Declaration } from '../written/script/declaration.ts';

export interface EnvironmentToExport {
  readonly file: EnvironmentFile;
  readonly declaration: Declaration;
  readonly settings: ClassSettings;
  /** The virtual machine: the bytes of `quickjs-wasi/quickjs.wasm`. */
  readonly quickjsWasm: Uint8Array;
}

export interface NamedExport extends EnvironmentToExport {
  readonly names: PythonNames;
}

/**
 * A tool as a method of a Python class. `name` and each parameter's `name` are its names in Python; `tool` has the
 * original names.
 */
export interface PythonTool {
  readonly name: string;
  readonly tool: ToolFace;
  readonly parameters: readonly { readonly name: string; readonly parameter: Parameter }[];
}

export interface PythonNames {
  readonly className: string;
  readonly tools: readonly PythonTool[];
  /** Every name that had to be changed: the original and the one in Python. */
  readonly changedNames: readonly (readonly [original: string, python: string])[];
}

const KEYWORDS =
  'False None True and as assert async await break class continue def del elif else except finally for from global if import in is lambda nonlocal not or pass raise return try while with yield';
/** Names that the exported classes use themselves, or that their frameworks' base classes have. */
const NAMES_IN_USE =
  'self str bool float int dict list set Literal Episode EnvironmentFault reset get_reward answer state step close config setup setup_task register run server_name property main dataset vf Any';
const RESERVED: ReadonlySet<string> = new Set(`${KEYWORDS} ${NAMES_IN_USE}`.split(' '));

/**
 * The names of a class and its tools in Python. A name that Python reserves or that is already in use, such as `from`,
 * gets an underscore at its end. Throws EnvironmentFileError if a name is not possible in Python.
 */
export function pythonNames({ name, tools }: Pick<Declaration, 'name' | 'tools'>): PythonNames {
  const changedNames = new Map<string, string>();
  const pythonName = (original: string, namesInUse: Set<string>, what: string): string => {
    if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(original) || original.startsWith('__')) {
      throw new EnvironmentFileError(
        `\`${visible(original)}\`, the name of ${what}, can’t be a name in Python. Use letters from a to z, digits and underscores, with a letter first.`,
        null,
      );
    }
    let python = original;
    while (RESERVED.has(python) || namesInUse.has(python)) python += '_';
    namesInUse.add(python);
    if (python !== original) changedNames.set(original, python);
    return python;
  };
  const className = pythonName(name, new Set(), 'the class');
  const methods = new Set<string>();
  const pythonTools = tools.map((tool): PythonTool => {
    const parameterNames = new Set<string>();
    return {
      name: pythonName(tool.name, methods, 'a tool'),
      tool,
      parameters: tool.parameters.map((parameter) => ({
        name: pythonName(parameterName(parameter), parameterNames, `a parameter of ${tool.name}`),
        parameter,
      })),
    };
  });
  return { className, tools: pythonTools, changedNames: [...changedNames] };
}

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
