import type { SyntaxNode } from '@lezer/common';
import { parser } from '@lezer/javascript';
import { transform } from 'sucrase';
import { visible } from '../base/visible.ts';
import { EnvironmentFileError, type EnvironmentLanguage } from '../domain/environmentFile.ts';
import type { Parameter, ToolFace } from '../text/toolSchema.ts';

export { EnvironmentFileError };

/** An environment's file, read but not run. */
export interface Declaration {
  readonly language: EnvironmentLanguage;
  readonly name: string;
  /** The comment before the class; it describes the task to the agent. */
  readonly description: string;
  readonly tools: readonly ToolFace[];
  readonly hasExpert: boolean; // the class has a player that solves its tasks
  readonly hearsAnswer: boolean; // the class has `answer(text)`, which gets the agent's text if a turn is no call
  /** For TypeScript: JavaScript that assigns the class to `exports.default`. For Python: the file unchanged. Line numbers are those of the file. */
  readonly code: string;
}

/** Methods that the playground calls itself; every other public method is a tool. */
export const OWN_METHODS: readonly string[] = [
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
 * Reads an environment: one class as `export default`, in the shape of TRL's `environment_factory`. Its public methods are tools; their
 * comments and parameter types become the tools' schema. Nothing of the file is run. Throws EnvironmentFileError.
 */
export function readDeclaration(source: string): Declaration {
  const tree = typescript.parse(source).topNode;
  const text = (node: SyntaxNode) => source.slice(node.from, node.to);
  const lineOf = (at: number) => source.slice(0, at).split('\n').length;
  const code = erased(source);
  const imported = tree.getChildren('ImportDeclaration').find((node) => !/^import\s+type\b/.test(text(node)));
  if (imported) {
    throw new EnvironmentFileError(
      'An environment can import only types. Write `import type { … }`, or copy the code into the file.',
      lineOf(imported.from),
    );
  }
  const exported = tree.getChildren('ExportDeclaration').find((node) => /^export\s+default\b/.test(text(node)));
  const body = exported?.getChild('ClassDeclaration') ?? exported?.getChild('ClassExpression');
  if (!exported || !body) {
    throw new EnvironmentFileError(
      'The file has no class to train on. Write `export default class MyTask { … }`.',
      null,
    );
  }
  const named = body.getChild('VariableDefinition');
  if (!named) {
    throw new EnvironmentFileError(
      'The class has no name. Write `export default class MyTask { … }`.',
      lineOf(body.from),
    );
  }
  const tools = toolsOf(body.getChild('ClassBody'), text, lineOf);
  if (!tools.found.has('reset')) {
    throw new EnvironmentFileError(
      'The class has no `reset(task)`. Add it: it begins a task and returns the prompt.',
      lineOf(body.from),
    );
  }
  if (!tools.found.has('getReward')) {
    throw new EnvironmentFileError(
      'The class has no `getReward()`. Add it: it returns the reward of the episode.',
      lineOf(body.from),
    );
  }
  if (tools.faces.length === 0 && !tools.found.has('answer')) {
    throw new EnvironmentFileError(
      'The class has no tool. Add a public method, such as `guess(word: string): string`.',
      lineOf(body.from),
    );
  }
  return {
    language: 'typescript',
    name: text(named),
    description: commentBefore(exported, text)?.says ?? '',
    tools: tools.faces,
    hasExpert: tools.found.has('expert'),
    hearsAnswer: tools.found.has('answer'),
    code,
  };
}

/** Removes the types and turns `export default` into an assignment. Line numbers stay the same. */
export function erased(source: string): string {
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

function toolsOf(
  body: SyntaxNode | null,
  text: (node: SyntaxNode) => string,
  lineOf: (at: number) => number,
): { readonly faces: readonly ToolFace[]; readonly found: ReadonlySet<string> } {
  const faces: ToolFace[] = [];
  const found = new Set<string>();
  for (const method of body?.getChildren('MethodDeclaration') ?? []) {
    const definition = method.getChild('PropertyDefinition');
    if (!definition) continue; // #private, or a computed name
    const name = text(definition);
    const before = text(method).slice(0, definition.from - method.from);
    if (/\b(?:private|protected|static|get|set)\b/.test(before) || name.startsWith('_')) continue;
    found.add(name);
    if (OWN_METHODS.includes(name)) continue;
    if (/\basync\b/.test(before)) {
      throw new EnvironmentFileError(
        `\`${name}\` is async. A tool has to return at once. Remove \`async\`.`,
        lineOf(method.from),
      );
    }
    const comment = commentBefore(method, text);
    faces.push({
      name,
      description: comment?.says ?? '',
      parameters: parametersOf(method.getChild('ParamList'), name, comment?.parameters ?? new Map(), text, lineOf),
    });
  }
  return { faces, found };
}

function parametersOf(
  list: SyntaxNode | null,
  tool: string,
  said: ReadonlyMap<string, string>,
  text: (node: SyntaxNode) => string,
  lineOf: (at: number) => number,
): readonly Parameter[] {
  const parameters: Parameter[] = [];
  for (const node of list?.getChildren('VariableDefinition') ?? []) {
    const name = text(node);
    const annotation = node.nextSibling?.name === 'TypeAnnotation' ? node.nextSibling : null;
    const type = annotation ? text(annotation).replace(/^:\s*/, '').trim() : '';
    const kind = kindOf(type);
    if (!kind) {
      const problem = type ? `has the type \`${visible(type)}\`` : 'has no type';
      throw new EnvironmentFileError(
        `The parameter \`${name}\` of the tool \`${tool}\` ${problem}. Use string, number, boolean, or choices such as 'up' | 'down'.`,
        lineOf(node.from),
      );
    }
    const description = said.get(name);
    parameters.push({ name, ...kind, ...(description !== undefined && { description }) });
  }
  const others = ['ObjectPattern', 'ArrayPattern', 'Spread'].some((kind) => list?.getChild(kind));
  if (list && others) {
    throw new EnvironmentFileError(
      `The tool \`${tool}\` has a destructured or rest parameter. Name each parameter: \`${tool}(word: string)\`.`,
      lineOf(list.from),
    );
  }
  return parameters;
}

function kindOf(
  type: string,
): { readonly type: 'string' | 'number' | 'boolean'; readonly choices?: readonly string[] } | null {
  if (type === 'string' || type === 'number' || type === 'boolean') return { type };
  const choices = type.split('|').map((choice) => /^(['"])([^'"\\]*)\1$/.exec(choice.trim())?.[2]);
  return choices.every((choice) => choice !== undefined) && choices.length > 0 ? { type: 'string', choices } : null;
}

interface Comment {
  readonly says: string;
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
  const [says = '', ...tags] = lines.join('\n').split(/^@/m);
  const parameters = new Map<string, string>();
  for (const tag of tags) {
    const [, name, description] = /^param\s+(?:\{[^}]*\}\s+)?(\w+)\s*-?\s*([\s\S]*)$/.exec(tag) ?? [];
    if (name !== undefined && description) parameters.set(name, flowing(description));
  }
  return { says: flowing(says), parameters };
}

const flowing = (lines: string) => lines.split(/\s+/).filter(Boolean).join(' ');
