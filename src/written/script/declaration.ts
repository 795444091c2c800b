import type { SyntaxNode } from '@lezer/common';
import { parser } from '@lezer/javascript';
import { transform } from 'sucrase';
import { resembles } from '../../base/resembles.ts';
import { visible } from '../../base/visible.ts';
import {
  EnvironmentFileError,
  type EnvironmentLanguage,
  type FileProblem,
  refuseProblems,
} from '../../domain/environmentFile.ts';
import type { Parameter, ToolFace } from '../../text/toolSchema.ts';
import { wrongReturns } from './returnedKinds.ts';
import { childrenOf, lineFinder, parsedFile } from './syntax.ts';
import { undeclaredMembers, DYNAMIC_MEMBERS, memberUses } from './undeclaredMembers.ts';

/** The static fields that the playground reads. */
const STATICS = ['tasks', 'maxTurns', 'weights'];
/** The field that the playground reads: it ends the episode. */
const DONE = 'done';
/** Matches `this` used as a whole, so that any member may be read or set through it. */
const WHOLE_THIS = /\bthis\b(?!\s*(?:\?\.|\.|\[))/;

/**
 * Finds names in a class in TypeScript that were probably mistyped and that nothing else would report: a static field
 * that resembles one of the playground's; a member that is given a value but is neither declared nor read; a declared
 * field that is never used and resembles one that is used without a declaration. Each is reported once, at its first
 * line.
 */
function mistypedNames(
  declaration: SyntaxNode,
  source: string,
  lineOf: (at: number) => number,
): readonly FileProblem[] {
  const body = declaration.getChild('ClassBody');
  if (!body) return [];
  const fields = fieldsOf(body, source);
  const statics = fields.flatMap(({ name, at, isStatic }) => {
    const meant = isStatic && !STATICS.includes(name) && STATICS.find((known) => resembles(name, known));
    return meant
      ? [
          {
            what: `The playground does not read \`static ${visible(name)}\`. Did you mean \`${meant}\`?`,
            line: lineOf(at),
          },
        ]
      : [];
  });
  const code = source.slice(body.from, body.to);
  if (declaration.getChild('extends') || DYNAMIC_MEMBERS.test(code) || WHOLE_THIS.test(code)) return statics;
  const declared = new Map(fields.flatMap(({ name, at, isStatic }) => (isStatic ? [] : [[name, at] as const])));
  const { read, given } = memberUses(body, source);
  const isUsed = (name: string) => read.has(name) || given.has(name);
  const unread = [...given].flatMap(([name, { from: at }]) => {
    if (declared.has(name) || read.has(name) || name === DONE) return [];
    const meant = [...declared.keys(), DONE].find((known) => resembles(name, known));
    const question = meant === undefined ? 'Declare it if you need it' : `Did you mean \`${visible(meant)}\``;
    return [
      {
        what: `\`this.${visible(name)}\` is given a value but never read. ${question}${meant ? '?' : '.'}`,
        line: lineOf(at),
      },
    ];
  });
  const unused = [...declared].flatMap(([name, at]) => {
    if (isUsed(name) || name === DONE) return [];
    const meant = [...given.keys()].find((other) => !declared.has(other) && resembles(name, other));
    return meant === undefined
      ? []
      : [
          {
            what: `\`${visible(name)}\` is declared but never used. Did you mean \`${visible(meant)}\`?`,
            line: lineOf(at),
          },
        ];
  });
  return [...statics, ...unread, ...unused];
}

interface Field {
  readonly name: string;
  readonly at: number;
  readonly isStatic: boolean;
}

function fieldsOf(body: SyntaxNode, source: string): readonly Field[] {
  return childrenOf(body).flatMap((member): Field[] => {
    const name = member.getChild('PropertyDefinition') ?? member.getChild('PrivatePropertyDefinition');
    if (member.name !== 'PropertyDeclaration' || !name) return [];
    const isStatic = /\bstatic\b/.test(source.slice(member.from, name.from));
    return [{ name: source.slice(name.from, name.to), at: name.from, isStatic }];
  });
}

export { EnvironmentFileError };

/** An environment's file that was read but not run. */
export interface Declaration {
  readonly language: EnvironmentLanguage;
  readonly name: string;
  /** The comment before the class; it describes the task to the agent. */
  readonly description: string;
  readonly tools: readonly ToolFace[];
  readonly hasExpert: boolean; // the class has a player that solves its tasks
  readonly hearsAnswer: boolean; // the class has `answer(text)`, which gets the agent's text if a turn is not a call
  /** Probable mistakes that don't prevent playing, sorted by line. */
  readonly mistakes: readonly FileProblem[];
  /**
   * For TypeScript: JavaScript that assigns the class to `exports.default`. For Python: the file unchanged. Line
   * numbers are those of the file.
   */
  readonly code: string;
}

/** Methods that the playground itself calls. Every other public method is a tool. */
export const PLAYGROUND_METHODS: readonly string[] = [
  'constructor',
  'reset',
  'getReward',
  'turnReward',
  'stateKey',
  'observe',
  'expert',
  'view',
  'answer',
];

const typescript = parser.configure({ dialect: 'ts' });

/**
 * Reads an environment: one class as `export default`, in the shape of TRL's `environment_factory`. Its public methods
 * are tools; their comments and parameter types become the tools' schema. Nothing of the file is run. Throws
 * EnvironmentFileError with all problems that it finds.
 */
export function readDeclaration(source: string): Declaration {
  const lineOf = lineFinder(source);
  const tree = parsedFile(typescript, source, lineOf);
  const text = (node: SyntaxNode) => source.slice(node.from, node.to);
  const problems: FileProblem[] = [];
  const code = codeOrProblem(source, problems);
  for (const node of tree.getChildren('ImportDeclaration')) {
    if (/^import\s+type\b/.test(text(node))) continue;
    const what = 'An environment can import only types. Write `import type { … }`, or copy the code into the file.';
    problems.push({ what, line: lineOf(node.from) });
  }
  const exported = tree.getChildren('ExportDeclaration').find((node) => /^export\s+default\b/.test(text(node)));
  const body = exported?.getChild('ClassDeclaration') ?? exported?.getChild('ClassExpression');
  const nameNode = body?.getChild('VariableDefinition');
  if (!exported || !body || !nameNode) {
    // in a file with a syntax error, the parser may not find the class
    if (code !== null) problems.push(noClassProblem(body ? lineOf(body.from) : null));
    refuseProblems(problems);
    throw new EnvironmentFileError('The file has no class to train on.', null);
  }
  const { faces, methodNames, ...tools } = toolsOf(body.getChild('ClassBody'), text, lineOf);
  const missing = [
    ['reset', 'no `reset(task)`. Add it: it begins a task and returns the prompt.'],
    ['getReward', 'no `getReward()`. Add it: it returns the reward of the episode.'],
  ].flatMap(([name = '', missingPart = '']) => {
    if (methodNames.has(name)) return [];
    const similar = [...methodNames].find((each) => resembles(each, name));
    if (similar === undefined) return [`The class has ${missingPart}`];
    return [`The class has \`${visible(similar)}\`. Rename it: in TypeScript it is called \`${name}\`.`];
  });
  if (tools.problems.length === 0 && faces.length === 0 && !methodNames.has('answer'))
    missing.push('The class has no tool. Add a public method, such as `guess(word: string): string`.');
  if (code !== null) problems.push(...missing.map((what) => ({ what, line: lineOf(body.from) })));
  refuseProblems([...problems, ...tools.problems]);
  const names = faces.map(({ name }) => name);
  const mistakes = [
    ...undeclaredMembers(body, source, lineOf),
    ...mistypedNames(body, source, lineOf),
    ...wrongReturns(body, source, lineOf, names),
  ];
  return {
    language: 'typescript',
    name: text(nameNode),
    description: commentBefore(exported, text)?.description ?? '',
    tools: faces,
    hasExpert: methodNames.has('expert'),
    hearsAnswer: methodNames.has('answer'),
    mistakes: mistakes.toSorted((a, b) => Number(a.line) - Number(b.line)),
    code: code ?? '',
  };
}

const noClassProblem = (line: number | null): FileProblem => ({
  what: `The ${line === null ? 'file has no class to train on' : 'class has no name'}. Write \`export default class MyTask { … }\`.`,
  line,
});

/** The code without types; null if it isn't valid, which is added to `problems`. */
function codeOrProblem(source: string, problems: FileProblem[]): string | null {
  try {
    return eraseTypes(source);
  } catch (error) {
    if (!(error instanceof EnvironmentFileError)) throw error;
    problems.push(error.first);
    return null;
  }
}

/** Removes the types and turns `export default` into an assignment. Line numbers stay the same. */
export function eraseTypes(source: string): string {
  try {
    return transform(source, { transforms: ['typescript', 'imports'], disableESTransforms: true }).code;
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    const line = /\((\d+):\d+\)/.exec(message)?.[1];
    const what = message.replace(/^Error transforming[^:]*: /, '').replace(/ ?\(\d+:\d+\)/, '');
    throw new EnvironmentFileError(
      `This isn’t valid TypeScript: ${visible(what.replace(/\.$/, ''))}.`,
      line === undefined ? null : Number(line),
    );
  }
}

interface Tools {
  readonly faces: readonly ToolFace[];
  readonly methodNames: ReadonlySet<string>; // all public methods
  readonly problems: readonly FileProblem[];
}

function toolsOf(body: SyntaxNode | null, text: (node: SyntaxNode) => string, lineOf: (at: number) => number): Tools {
  const faces: ToolFace[] = [];
  const methodNames = new Set<string>();
  const problems: FileProblem[] = [];
  for (const method of body?.getChildren('MethodDeclaration') ?? []) {
    const definition = method.getChild('PropertyDefinition');
    if (!definition) continue; // #private, or a computed name
    const name = text(definition);
    const before = text(method).slice(0, definition.from - method.from);
    if (/\b(?:private|protected|static|get|set)\b/.test(before) || name.startsWith('_')) continue;
    methodNames.add(name);
    if (/\basync\b/.test(before)) {
      const what = `\`${name}\` is async. It has to return at once. Remove \`async\`.`;
      problems.push({ what, line: lineOf(method.from) });
    }
    if (PLAYGROUND_METHODS.includes(name)) continue;
    const comment = commentBefore(method, text);
    const parameterList = method.getChild('ParamList');
    const { parameters, ...parameterProblems } = parametersOf(
      parameterList,
      name,
      comment?.parameters ?? new Map(),
      text,
      lineOf,
    );
    problems.push(...parameterProblems.problems);
    faces.push({ name, description: comment?.description ?? '', parameters });
  }
  return { faces, methodNames, problems };
}

function parametersOf(
  list: SyntaxNode | null,
  tool: string,
  descriptions: ReadonlyMap<string, string>,
  text: (node: SyntaxNode) => string,
  lineOf: (at: number) => number,
): { readonly parameters: readonly Parameter[]; readonly problems: readonly FileProblem[] } {
  const parameters: Parameter[] = [];
  const problems: FileProblem[] = [];
  for (const node of list?.getChildren('VariableDefinition') ?? []) {
    const name = text(node);
    const typeNode = node.nextSibling?.name === 'Optional' ? node.nextSibling.nextSibling : node.nextSibling;
    const type = typeNode?.name === 'TypeAnnotation' ? text(typeNode).replace(/^:\s*/, '').trim() : '';
    const kind = kindOf(type);
    if (!kind) {
      const problem = type ? `has the type \`${visible(type)}\`` : 'has no type';
      const what = `The parameter \`${name}\` of the tool \`${tool}\` ${problem}. Use string, number, boolean, or choices such as 'up' | 'down'.`;
      problems.push({ what, line: lineOf(node.from) });
      continue;
    }
    const description = descriptions.get(name);
    parameters.push({ name, ...kind, ...(description !== undefined && { description }) });
  }
  if (list && childrenOf(list).some(({ name }) => ['ObjectPattern', 'ArrayPattern', 'Spread'].includes(name))) {
    const what = `The tool \`${tool}\` has a destructured or rest parameter. Name each parameter: \`${tool}(word: string)\`.`;
    problems.push({ what, line: lineOf(list.from) });
  }
  return { parameters, problems };
}

function kindOf(
  type: string,
): { readonly type: 'string' | 'number' | 'boolean'; readonly enum?: readonly string[] } | null {
  if (type === 'string' || type === 'number' || type === 'boolean') return { type };
  const choices = type.split('|').map((choice) => /^(['"])([^'"\\]*)\1$/.exec(choice.trim())?.[2]);
  return choices.every((choice) => choice !== undefined) && choices.length > 0
    ? { type: 'string', enum: choices }
    : null;
}

interface Comment {
  readonly description: string;
  readonly parameters: ReadonlyMap<string, string>;
}

/** The documentation comment before a node: its sentences, and the `@param` text of each parameter. */
function commentBefore(node: SyntaxNode, text: (node: SyntaxNode) => string): Comment | null {
  const comment = node.prevSibling;
  if (comment?.name !== 'BlockComment' || !text(comment).startsWith('/**')) return null;
  const lines = text(comment)
    .slice(3, -2)
    .split('\n')
    .map((line) => line.replace(/^\s*\*? ?/, '').trimEnd());
  const [docText = '', ...tags] = lines.join('\n').split(/^@/m);
  const parameters = new Map<string, string>();
  for (const tag of tags) {
    const [, name, description] = /^param\s+(?:\{[^}]*\}\s+)?(\w+)\s*-?\s*([\s\S]*)$/.exec(tag) ?? [];
    if (name !== undefined && description) parameters.set(name, asOneLine(description));
  }
  return { description: asOneLine(docText), parameters };
}

const asOneLine = (lines: string) => lines.split(/\s+/).filter(Boolean).join(' ');
