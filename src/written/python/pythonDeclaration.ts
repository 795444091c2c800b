import type { SyntaxNode } from '@lezer/common';
import { parser } from '@lezer/python';
import { visible } from '../../base/visible.ts';
import { EnvironmentFileError, type FileProblem, refuseProblems } from '../../domain/environmentFile.ts';
import type { Parameter, ToolFace } from '../../text/toolSchema.ts';
import type { Declaration } from '../declaration.ts';
import { childrenOf, lineFinder, parsedFile } from '../syntax.ts';
import { pythonMistakes } from './pythonMistakes.ts';

/** A method of a class, defined in it or inherited. */
interface Method {
  readonly node: SyntaxNode; // FunctionDefinition
  readonly decorators: readonly string[];
}

const PLAYGROUND_METHODS: ReadonlySet<string> = new Set(['reset', 'get_reward']);

/**
 * Reads an environment in Python: the last class of the file that has `reset` and `get_reward`, in the form of TRL's
 * `environment_factory`. Its public methods are tools; type hints and Google-style docstrings become the tools' schema.
 * The file is not run. Throws EnvironmentFileError with all problems that it finds.
 */
export function readPython(source: string): Declaration {
  const text = (node: SyntaxNode) => source.slice(node.from, node.to);
  const lineOf = lineFinder(source);
  const classes = new Map<string, SyntaxNode>();
  for (const statement of childrenOf(parsedFile(parser, source, lineOf))) {
    const node = statement.name === 'DecoratedStatement' ? statement.getChild('ClassDefinition') : statement;
    const name = node?.name === 'ClassDefinition' ? node.getChild('VariableName') : null;
    if (node && name) classes.set(text(name), node);
  }
  const allClasses = [...classes].map(([name, node]) => ({ name, node, methods: methodsOf(node, classes, text) }));
  const environmentClass = allClasses.findLast(({ methods }) => methods.has('reset') && methods.has('get_reward'));
  if (!environmentClass) {
    const candidate =
      allClasses.findLast(({ methods }) => methods.has('reset') || methods.has('get_reward')) ?? allClasses.at(-1);
    if (!candidate) throw new EnvironmentFileError('The file has no class to train on. Write `class MyTask:`.', null);
    const what = candidate.methods.has('reset')
      ? 'The class has no `get_reward(self)`. Add it: it returns the reward of the episode.'
      : 'The class has no `reset(self, **kwargs)`. Add it: it begins a task and returns the prompt.';
    throw new EnvironmentFileError(what, lineOf(candidate.node.from));
  }
  const { name, node, methods } = environmentClass;
  // in the order in which TRL finds them
  const sortedMethods = [...methods].toSorted(([a], [b]) => (a < b ? -1 : 1));
  const problems: FileProblem[] = [];
  const tools = sortedMethods
    .filter(([tool, method]) => !tool.startsWith('_') && !PLAYGROUND_METHODS.has(tool) && isFunction(method))
    .map(([tool, method]) => toolOf(tool, method, text, (what, at) => problems.push({ what, line: lineOf(at) })));
  refuseProblems(problems.toSorted((a, b) => Number(a.line) - Number(b.line)));
  if (tools.length === 0 && !methods.has('_answer')) {
    throw new EnvironmentFileError(
      'The class has no tool. Add a public method, such as `def guess(self, word: str) -> str:`.',
      lineOf(node.from),
    );
  }
  return {
    ...{ language: 'python', name, tools },
    description: docstringOf(node, text).description,
    hasExpert: methods.has('_expert'),
    hearsAnswer: methods.has('_answer'),
    mistakes: pythonMistakes(
      { lineage: lineageOf(node, classes, text), getReward: methods.get('get_reward')?.node },
      text,
      lineOf,
    ),
    code: source,
  };
}

/** A class and the classes that it inherits from. Null if one of them isn't in the file. */
function lineageOf(
  node: SyntaxNode,
  classes: ReadonlyMap<string, SyntaxNode>,
  text: (node: SyntaxNode) => string,
  subclasses: readonly SyntaxNode[] = [],
): readonly SyntaxNode[] | null {
  if (subclasses.includes(node)) return null;
  const bases = childrenOf(node.getChild('ArgList')).filter(({ name }) => !['(', ')', ','].includes(name));
  const baseLineages = bases.map((base) => {
    if (text(base) === 'object') return [];
    const baseClass = classes.get(text(base));
    return baseClass ? lineageOf(baseClass, classes, text, [...subclasses, node]) : null;
  });
  return baseLineages.every((each) => each !== null) ? [node, ...baseLineages.flat()] : null;
}

/** The methods of a class by name, with those inherited from classes of the file. Inherited methods come first. */
function methodsOf(
  node: SyntaxNode,
  classes: ReadonlyMap<string, SyntaxNode>,
  text: (node: SyntaxNode) => string,
  subclasses: readonly SyntaxNode[] = [],
): ReadonlyMap<string, Method> {
  const methods = new Map<string, Method>();
  for (const base of node.getChild('ArgList')?.getChildren('VariableName') ?? []) {
    const baseClass = classes.get(text(base));
    if (!baseClass || baseClass === node || subclasses.includes(baseClass)) continue;
    for (const [name, method] of methodsOf(baseClass, classes, text, [...subclasses, node])) methods.set(name, method);
  }
  for (const statement of childrenOf(node.getChild('Body'))) {
    const decorated = statement.name === 'DecoratedStatement';
    const definition = decorated ? statement.getChild('FunctionDefinition') : statement;
    const name = definition?.name === 'FunctionDefinition' ? definition.getChild('VariableName') : null;
    if (!definition || !name) continue;
    const decorators = decorated ? statement.getChildren('Decorator').map((each) => text(each).slice(1).trim()) : [];
    methods.set(text(name), { node: definition, decorators });
  }
  return methods;
}

/**
 * Whether a method is a plain function. `@property` and `@classmethod` make it something else, which is not a tool for
 * TRL.
 */
const isFunction = ({ decorators }: Method) =>
  !decorators.some((name) =>
    ['property', 'classmethod', 'cached_property', 'functools.cached_property'].includes(name),
  );

function toolOf(
  name: string,
  { node, decorators }: Method,
  text: (node: SyntaxNode) => string,
  addProblem: (what: string, at: number) => void,
): ToolFace {
  if (node.getChild('async')) {
    addProblem(`\`${name}\` is async. A tool has to return at once. Remove \`async\`.`, node.from);
  }
  const { description: says, parameters: descriptions } = docstringOf(node, text);
  const list = node.getChild('ParamList');
  const parameterNodes = childrenOf(list);
  const selfIndex = parameterNodes.findIndex(({ name: kind }) => kind === 'VariableName');
  const parameters: Parameter[] = [];
  const hasUnnamed = parameterNodes.some(
    ({ name: kind }, at) => kind === '*' && parameterNodes[at + 1]?.name === 'VariableName',
  );
  if (list && (hasUnnamed || /,\s*\/\s*[,)]/.test(text(list)))) {
    addProblem(
      `The tool \`${name}\` has parameters without a name to call them by. Name each one: \`def ${name}(self, word: str)\`.`,
      list.from,
    );
  }
  for (const [at, part] of parameterNodes.entries()) {
    const isName = part.name === 'VariableName' && ['(', ',', '*'].includes(parameterNodes[at - 1]?.name ?? '');
    if (!isName || (at === selfIndex && !decorators.includes('staticmethod'))) continue;
    const hint =
      parameterNodes[at + 1]?.name === 'TypeDef'
        ? text(parameterNodes[at + 1] ?? part)
            .replace(/^:\s*/, '')
            .replace(/\s+/g, ' ')
        : '';
    const kind = kindOf(hint.trim());
    const parameter = text(part);
    if (!kind) {
      const problem = hint ? `has the type \`${visible(hint)}\`` : 'has no type hint';
      addProblem(
        `The parameter \`${parameter}\` of the tool \`${name}\` ${problem}. Use str, int, float, bool, or choices such as Literal["up", "down"].`,
        part.from,
      );
      continue;
    }
    const description = descriptions.get(parameter);
    parameters.push({ name: parameter, ...kind, ...(description !== undefined && { description }) });
  }
  return { name, description: says, parameters };
}

const TYPES: Readonly<Record<string, 'string' | 'integer' | 'number' | 'boolean'>> = {
  str: 'string',
  int: 'integer',
  float: 'number',
  bool: 'boolean',
};

/** The parameter type of a type hint; null if a call can't give such a value. */
function kindOf(
  hint: string,
): { readonly type: 'string' | 'integer' | 'number' | 'boolean'; readonly choices?: readonly string[] } | null {
  const withoutOptional = /^(?:typing\.)?Optional\[(.*)\]$/s.exec(hint)?.[1] ?? hint.replace(/\s*\|\s*None$/, '');
  const unquoted = withoutOptional.trim().replace(/^(['"])(.*)\1$/, '$2');
  const type = Object.hasOwn(TYPES, unquoted) ? TYPES[unquoted] : undefined;
  if (type) return { type };
  const choiceList = /^(?:typing\.)?Literal\[(.*)\]$/s.exec(unquoted)?.[1];
  if (choiceList === undefined) return null;
  const choices = choiceList
    .split(',')
    .map((choice) => choice.trim())
    .filter(Boolean)
    .map((choice) => /^(['"])([^'"\\]*)\1$/.exec(choice)?.[2]);
  return choices.length > 0 && choices.every((choice) => choice !== undefined) ? { type: 'string', choices } : null;
}

/** The contents of a Google-style docstring: its sentences, and the `Args:` text of each parameter. */
interface Docstring {
  readonly description: string;
  readonly parameters: ReadonlyMap<string, string>;
}

/** The docstring of a class or a function; empty if it has none. */
function docstringOf(definition: SyntaxNode, text: (node: SyntaxNode) => string): Docstring {
  const [first] = definition.getChild('Body')?.getChildren('ExpressionStatement') ?? [];
  const literal = first?.prevSibling?.name === ':' ? first.getChild('String') : null;
  return readDocstring(literal ? valueOf(text(literal)) : '');
}

/** Parses a docstring like `transformers.utils.get_json_schema`, from which TRL gets a tool's schema. */
function readDocstring(doc: string): Docstring {
  const [description = '', ...sections] = doc.split(/^[ \t]*(?=(?:Args|Returns|Raises):[ \t]*$)/m);
  const args = sections.find((section) => section.startsWith('Args:'))?.slice('Args:'.length) ?? '';
  const parameters = new Map<string, string>();
  const lines: string[] = []; // of one parameter's description
  let parameter: string | null = null;
  const finishParameter = () => {
    if (parameter !== null) parameters.set(parameter, asOneLine(lines.splice(0).join('\n')));
  };
  for (const line of args.split('\n')) {
    const [, name, begin = ''] = /^\s*(\w+)\s*(?:\([^)]*\))?:(.*)$/s.exec(line) ?? [];
    if (name !== undefined) {
      finishParameter();
      parameter = name;
    }
    if (parameter !== null) lines.push(name === undefined ? line : begin);
  }
  finishParameter();
  return { description: asOneLine(description), parameters };
}

const ESCAPED: Readonly<Record<string, string>> = { n: '\n', t: '\t', '\n': '' };

/** The value of a string literal. */
function valueOf(literal: string): string {
  const [, prefix = '', , inner = ''] = /^([a-zA-Z]*)("""|'''|"|')([\s\S]*)\2$/.exec(literal) ?? [];
  if (/r/i.test(prefix)) return inner;
  return inner.replaceAll(/\\([\s\S])/g, (_, letter: string) => ESCAPED[letter] ?? letter);
}

const asOneLine = (lines: string) => lines.split(/\s+/).filter(Boolean).join(' ');
