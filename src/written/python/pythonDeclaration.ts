import type { SyntaxNode } from '@lezer/common';
import { parser } from '@lezer/python';
import { visible } from '../../base/visible.ts';
import { EnvironmentFileError, type FileProblem, refuseProblems } from '../../domain/environmentFile.ts';
import type { Parameter, ToolFace, ValueSchema } from '../../text/toolSchema.ts';
import type { Declaration } from '../script/declaration.ts';
import { childrenOf, lineFinder, parsedFile } from '../script/syntax.ts';
import { pythonMistakes } from './pythonMistakes.ts';
import { type HintNames, hintNames, schemaOfHint, stringValue } from './typeHints.ts';

/** A method of a class, defined in it or inherited. */
interface Method {
  readonly node: SyntaxNode; // FunctionDefinition
  readonly decorators: readonly string[];
}

const PLAYGROUND_METHODS: ReadonlySet<string> = new Set(['reset', 'get_reward']);

/**
 * Reads an environment in Python, in the form of TRL's `environment_factory`: the last class of the file that has
 * `reset` and `get_reward`. If none has `get_reward`, it is the last one that has `reset`, and the file needs a reward
 * function. The public methods are tools; type hints and Google-style docstrings become the tools' schema. The file is
 * not run. Throws EnvironmentFileError with all problems that it finds.
 */
export function readPython(source: string): Declaration {
  const text = (node: SyntaxNode) => source.slice(node.from, node.to);
  const lineOf = lineFinder(source);
  const classes = new Map<string, SyntaxNode>();
  const file = parsedFile(parser, source, lineOf);
  for (const statement of childrenOf(file)) {
    const node = statement.name === 'DecoratedStatement' ? statement.getChild('ClassDefinition') : statement;
    const name = node?.name === 'ClassDefinition' ? node.getChild('VariableName') : null;
    if (node && name) classes.set(text(name), node);
  }
  const allClasses = [...classes].map(([name, node]) => ({ name, node, methods: methodsOf(node, classes, text) }));
  const withReset = allClasses.filter(({ methods }) => methods.has('reset'));
  const environmentClass =
    withReset.findLast(({ methods }) => methods.has('get_reward')) ??
    (hasRewardFunction(file, text) ? withReset.at(-1) : undefined);
  if (!environmentClass) {
    const candidate =
      allClasses.findLast(({ methods }) => methods.has('reset') || methods.has('get_reward')) ?? allClasses.at(-1);
    if (!candidate) throw new EnvironmentFileError('The file has no class to train on. Write `class MyTask:`.', null);
    const what = candidate.methods.has('reset')
      ? `${misnamed(candidate.methods, 'get_reward', 'The class has no `get_reward(self)`.')} Add it: it returns the reward of the episode. Or put TRL’s reward function into the file: \`def reward_func(environments, **kwargs):\` with \`return [each.reward for each in environments]\`.`
      : `${misnamed(candidate.methods, 'reset', 'The class has no `reset(self, **kwargs)`.')} Add it: it begins a task and returns the prompt.`;
    throw new EnvironmentFileError(what, lineOf(candidate.node.from));
  }
  const { name, node, methods } = environmentClass;
  // in the order in which TRL finds them
  const sortedMethods = [...methods].toSorted(([a], [b]) => (a < b ? -1 : 1));
  const problems: FileProblem[] = [];
  const names = hintNames(file, text);
  const tools = sortedMethods
    .filter(([tool, method]) => !tool.startsWith('_') && !PLAYGROUND_METHODS.has(tool) && isFunction(method))
    .map(([tool, method]) =>
      toolOf(tool, method, { text, names }, (what, at) => problems.push({ what, line: lineOf(at) })),
    );
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
    mistakes: [
      ...misnamedMembers(methods, lineOf),
      ...pythonMistakes(
        { lineage: lineageOf(node, classes, text), getReward: methods.get('get_reward')?.node },
        text,
        lineOf,
      ),
    ],
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
  { text, names }: { readonly text: (node: SyntaxNode) => string; readonly names: HintNames },
  addProblem: (what: string, at: number) => void,
): ToolFace {
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
    const hintNode = parameterNodes[at + 1]?.name === 'TypeDef' ? parameterNodes[at + 1] : undefined;
    const hint = hintNode ? text(hintNode).replace(/^:\s*/, '').replace(/\s+/g, ' ').trim() : '';
    const schema = schemaOfHint(hint, names);
    const parameter = text(part);
    if (typeof schema === 'string') {
      const problem = hint ? `has the type \`${visible(hint)}\`` : 'has no type hint';
      addProblem(`The parameter \`${parameter}\` of the tool \`${name}\` ${problem}. ${schema}`, part.from);
      continue;
    }
    const hasDefault = parameterNodes[hintNode ? at + 2 : at + 1]?.name === 'AssignOp';
    const described = describedSchema(schema, descriptions.get(parameter));
    parameters.push({ name: parameter, ...described, ...(hasDefault && { optional: true }) });
  }
  return { name, description: says, parameters };
}

/** A description may end in `(choices: ["up", "down"])`; these are then the parameter's values, as for TRL. */
function describedSchema(
  schema: ValueSchema,
  text: string | undefined,
): ValueSchema & { readonly description?: string } {
  const [ending = '', list = ''] = /\(choices:\s*(.*?)\)\s*$/i.exec(text ?? '') ?? [];
  const choices = ending === '' ? null : choicesIn(list);
  const description = choices ? text?.slice(0, -ending.length).trim() : text;
  return { ...schema, ...(choices && { enum: choices }), ...(description !== undefined && { description }) };
}

function choicesIn(list: string): NonNullable<ValueSchema['enum']> | null {
  try {
    const values: unknown = JSON.parse(list);
    const isScalar = (value: unknown) => ['string', 'number', 'boolean'].includes(typeof value);
    return Array.isArray(values) && values.every(isScalar) ? values : null;
  } catch {
    return null; // it only looks like a list
  }
}

/** Whether the file has a reward function for TRL: a function with the parameter `environments`. */
function hasRewardFunction(file: SyntaxNode, text: (node: SyntaxNode) => string): boolean {
  return childrenOf(file)
    .map((statement) =>
      statement.name === 'DecoratedStatement' ? statement.getChild('FunctionDefinition') : statement,
    )
    .some((node) =>
      node?.name === 'FunctionDefinition'
        ? (node.getChild('ParamList')?.getChildren('VariableName') ?? []).some((each) => text(each) === 'environments')
        : false,
    );
}

/** The sentence, or the name under which the class has the method: `getReward` instead of `get_reward`. */
function misnamed(methods: ReadonlyMap<string, Method>, name: string, sentence: string): string {
  const similar = [...methods.keys()].find((each) => each !== name && plainName(each) === plainName(name));
  return similar === undefined ? sentence : `The class has \`${similar}\`. In Python it is called \`${name}\`.`;
}

const plainName = (name: string) => name.replaceAll('_', '').toLowerCase();

/** The optional methods. They begin with an underscore, because TRL takes every public method for a tool. */
const OPTIONAL_METHODS = ['_expert', '_view', '_turn_reward', '_state_key', '_observe'];

/** Names the methods that are tools only because they are written without an underscore, or as in TypeScript. */
function misnamedMembers(methods: ReadonlyMap<string, Method>, lineOf: (at: number) => number): readonly FileProblem[] {
  return [...methods].flatMap(([name, { node }]) => {
    const meant = OPTIONAL_METHODS.find((each) => each !== name && plainName(each) === plainName(name));
    if (meant === undefined || methods.has(meant)) return [];
    if (name === 'view' || name === 'observe') return []; // good names of tools
    const what = `\`${name}\` isn’t called by the playground${name.startsWith('_') ? '' : ': it is a tool'}. If it is meant as the method \`${meant}\`, rename it.`;
    return [{ what, line: lineOf(node.from) }];
  });
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
  return readDocstring(literal ? stringValue(text(literal)) : '');
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

const asOneLine = (lines: string) => lines.split(/\s+/).filter(Boolean).join(' ');
