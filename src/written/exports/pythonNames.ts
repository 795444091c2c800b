import { visible } from '../../base/visible.ts';
import { EnvironmentFileError } from '../../domain/environmentFile.ts';
import type { Parameter, ToolFace } from '../../text/toolSchema.ts';
import type { Declaration } from '../declaration.ts';
import { nameOf } from '../plays.ts';

/** A tool as a method of a Python class. `name` and the parameters' `name` are Python's, `tool` is the tool's own face. */
export interface PythonTool {
  readonly name: string;
  readonly tool: ToolFace;
  readonly parameters: readonly { readonly name: string; readonly parameter: Parameter }[];
}

export interface PythonNames {
  readonly className: string;
  readonly tools: readonly PythonTool[];
  /** Every name that had to be changed, as the environment has it and as Python has it. */
  readonly changed: readonly (readonly [own: string, python: string])[];
}

const KEYWORDS =
  'False None True and as assert async await break class continue def del elif else except finally for from global if import in is lambda nonlocal not or pass raise return try while with yield';
/** What the classes that are written use themselves, and what their frameworks' classes have. */
const TAKEN =
  'self str bool float int dict list set Literal Episode EnvironmentFault reset get_reward answer state step close config setup setup_task register run server_name property main dataset vf Any';
const RESERVED: ReadonlySet<string> = new Set(`${KEYWORDS} ${TAKEN}`.split(' '));

/**
 * The names that a class and its tools have in Python. A name that is a word of Python, such as `from`, gets an underscore behind it.
 * Throws EnvironmentFileError for one that Python can't have.
 */
export function pythonNames({ name, tools }: Pick<Declaration, 'name' | 'tools'>): PythonNames {
  const changed = new Map<string, string>();
  const pythonName = (own: string, taken: Set<string>, what: string): string => {
    if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(own) || own.startsWith('__')) {
      throw new EnvironmentFileError(
        `\`${visible(own)}\`, the name of ${what}, can’t be a name in Python. Use letters from a to z, digits and underscores, with a letter first.`,
        null,
      );
    }
    let python = own;
    while (RESERVED.has(python) || taken.has(python)) python += '_';
    taken.add(python);
    if (python !== own) changed.set(own, python);
    return python;
  };
  const className = pythonName(name, new Set(), 'the class');
  const methods = new Set<string>();
  const named = tools.map((tool): PythonTool => {
    const arguments_ = new Set<string>();
    return {
      name: pythonName(tool.name, methods, 'a tool'),
      tool,
      parameters: tool.parameters.map((parameter) => ({
        name: pythonName(nameOf(parameter), arguments_, `a parameter of ${tool.name}`),
        parameter,
      })),
    };
  });
  return { className, tools: named, changed: [...changed] };
}
