import {
  type Completion,
  type CompletionContext,
  type CompletionResult,
  snippetCompletion,
} from '@codemirror/autocomplete';
import { typescriptLanguage } from '@codemirror/lang-javascript';
import { ensureSyntaxTree, syntaxTree } from '@codemirror/language';
import type { EditorState } from '@codemirror/state';
import type { SyntaxNode } from '@lezer/common';
// oxlint-disable-next-line import/default -- `?raw` imports a file's text as the default
import declarations from '../../../public/environments/environment.d.ts?raw';
import { EMPTY_CLASS } from './emptyClass.ts';
import { MEMBERS } from './members.ts';

const WORD_PATTERN = /^\w*$/;
const MEMBER_PATTERN = /^(static\s+)?\w*$/;
/** A whole class, for a file that has none yet. */
const CLASS_SNIPPET = snippetCompletion(EMPTY_CLASS.typescript, {
  label: 'export default class',
  info: 'A whole class to fill in.',
  type: 'class',
});
const memberCompletions: readonly Completion[] = MEMBERS.map(({ label, doc, snippet }) =>
  snippetCompletion(snippet, { label, info: doc, type: 'method', boost: 1 }),
);

/** The members of each interface of `environment.d.ts`, with their types and comments. */
const INTERFACE_MEMBERS: ReadonlyMap<string, readonly Completion[]> = new Map(
  typescriptLanguage.parser
    .parse(declarations)
    .topNode.getChildren('ExportDeclaration')
    .flatMap((exported) => exported.getChild('InterfaceDeclaration') ?? [])
    .map((node) => {
      const type = node.getChild('ObjectType');
      const types = [...(type?.getChildren('MethodType') ?? []), ...(type?.getChildren('PropertyType') ?? [])];
      return [textOf(node.getChild('TypeDefinition'), declarations), types.map(memberOf)];
    }),
);

function memberOf(node: SyntaxNode): Completion {
  const name = node.getChild('PropertyDefinition');
  const comment = node.prevSibling?.name === 'BlockComment' ? textOf(node.prevSibling, declarations) : '';
  return {
    label: textOf(name, declarations),
    type: node.name === 'MethodType' ? 'method' : 'property',
    detail: declarations.slice(name?.to ?? node.from, node.to),
    info: comment.replaceAll(/^\/\*\*\s*|\s*\*\/$/g, ''),
  };
}

/** The editor parses in slices of 20 ms and may not have got this far; then the rest is parsed first, for a second at most. */
export const nodeAt = (state: EditorState, pos: number): SyntaxNode =>
  (ensureSyntaxTree(state, state.doc.length, 1000) ?? syntaxTree(state)).resolveInner(pos, -1);

/** Completes members of `draw`, `task` and `this`, and inside the class the members it may define. */
export function completeTypeScript(context: CompletionContext): CompletionResult | null {
  const { state, pos } = context;
  const memberAccess = context.matchBefore(/\b(draw|task|this)\.\w*/);
  if (memberAccess) {
    const [object = ''] = memberAccess.text.split('.');
    const from = memberAccess.from + object.length + 1;
    return { from, options: [...membersOf(object, context)], validFor: WORD_PATTERN };
  }
  const word = context.matchBefore(/\bstatic\s+\w*|\w+/);
  if (!word && !context.explicit) return null;
  const parent = nodeAt(state, pos);
  if (!isInClassBody(parent)) {
    const hasClass = /\bclass\b/.test(state.doc.toString());
    return hasClass || parent.name.includes('Comment') ? null : { from: word?.from ?? pos, options: [CLASS_SNIPPET] };
  }
  const defined = new Set(propertiesOf(parent, context).map(({ label }) => label));
  const options = memberCompletions.filter(({ label }) => !defined.has(label.replace('static ', '')));
  return { from: word?.from ?? pos, options, validFor: MEMBER_PATTERN };
}

function membersOf(object: string, context: CompletionContext): readonly Completion[] {
  if (object === 'this') return propertiesOf(nodeAt(context.state, context.pos), context);
  return INTERFACE_MEMBERS.get(object === 'draw' ? 'Draw' : 'Task') ?? [];
}

function propertiesOf(startNode: SyntaxNode, { state }: CompletionContext): readonly Completion[] {
  let body: SyntaxNode | null = startNode;
  while (body && body.name !== 'ClassBody') body = body.parent;
  const properties: Completion[] = [];
  for (const [kind, type] of [
    ['PropertyDeclaration', 'property'],
    ['MethodDeclaration', 'method'],
  ] as const) {
    for (const node of body?.getChildren(kind) ?? []) {
      const name = node.getChild('PropertyDefinition');
      if (name) properties.push({ label: state.sliceDoc(name.from, name.to), type });
    }
  }
  return properties;
}

/** Whether a class member can begin at a node: inside a class body, but not inside a method. */
function isInClassBody(node: SyntaxNode): boolean {
  for (let at: SyntaxNode | null = node; at; at = at.parent) {
    if (at.name === 'ClassBody') return true;
    if (!['PropertyDeclaration', 'PropertyDefinition', '⚠', 'MethodDeclaration'].includes(at.name)) return false;
    if (at.name === 'MethodDeclaration' && at.getChild('Block')) return false;
  }
  return false;
}

function textOf(node: SyntaxNode | null, text: string): string {
  return node ? text.slice(node.from, node.to) : '';
}
