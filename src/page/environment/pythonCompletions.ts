import {
  type Completion,
  type CompletionContext,
  type CompletionResult,
  snippetCompletion,
} from '@codemirror/autocomplete';
import type { Text } from '@codemirror/state';
import type { SyntaxNode } from '@lezer/common';
import { nodeAt } from './completions.ts';
import { EMPTY_CLASS } from './emptyClass.ts';
import { MEMBERS } from './members.ts';

const WORD_PATTERN = /^\w*$/;
const MEMBER_PATTERN = /^(def\s+)?\w*$/;
/** A whole class, for a file that has none yet. */
const CLASS_SNIPPET = snippetCompletion(EMPTY_CLASS.python, {
  label: 'class',
  info: 'A whole class to fill in.',
  type: 'class',
});
const memberCompletions: readonly Completion[] = MEMBERS.filter(({ pythonSnippet }) => pythonSnippet !== '').map(
  ({ pythonName, doc, pythonSnippet }) =>
    snippetCompletion(pythonSnippet, {
      label: pythonSnippet.startsWith('def ') ? `def ${pythonName}` : pythonName,
      info: doc,
      boost: 1,
    }),
);
/** The members of the module `random` that a class needs. The page seeds the module for each episode. */
const RANDOM_MEMBERS: readonly Completion[] = [
  { label: 'random', detail: '()', info: 'A number from 0 up to 1.' },
  { label: 'randrange', detail: '(n)', info: 'A whole number from 0 up to n − 1.' },
  { label: 'choice', detail: '(list)', info: 'One of a list.' },
  { label: 'sample', detail: '(list, k)', info: 'k different ones of a list, in random order.' },
  { label: 'shuffle', detail: '(list)', info: 'Shuffles a list in place, and returns nothing.' },
];
const DONE_COMPLETION: Completion = { label: 'done', info: MEMBERS.find(({ label }) => label === 'done')?.doc ?? '' };

/** Completes members of `self` and `random`, and inside the class the methods and fields it may define. */
export function completePython(context: CompletionContext): CompletionResult | null {
  const { state, pos } = context;
  const node = nodeAt(state, pos);
  if (/String|Comment/.test(node.name)) return null;
  const memberAccess = context.matchBefore(/\b(self|random)\.\w*/);
  if (memberAccess) {
    const [object = ''] = memberAccess.text.split('.');
    const options = object === 'random' ? RANDOM_MEMBERS : [DONE_COMPLETION, ...membersAround(node, context)];
    return { from: memberAccess.from + object.length + 1, options: [...options], validFor: WORD_PATTERN };
  }
  const word = context.matchBefore(/\bdef\s+\w*|\w+/);
  if (!word && !context.explicit) return null;
  const from = word?.from ?? pos;
  if (!/^\s*class\b/m.test(state.doc.toString())) return { from, options: [CLASS_SNIPPET] };
  const body = bodyOfClass(state.doc, from);
  if (body === null) return null;
  const options = memberCompletions.filter(({ label }) => !new RegExp(`^\\s*${label}\\b`, 'm').test(body));
  return { from, options, validFor: MEMBER_PATTERN };
}

/** The lines from the class statement to a place where a member can begin. Null if none can. */
function bodyOfClass(doc: Text, position: number): string | null {
  const line = doc.lineAt(position);
  const indent = line.text.slice(0, position - line.from);
  if (indent.trim() !== '') return null;
  for (let lineNumber = line.number - 1; lineNumber >= 1; lineNumber--) {
    const { text, from } = doc.line(lineNumber);
    if (text.trim() === '' || text.search(/\S/) >= indent.length) continue;
    return /^\s*class\b/.test(text) ? doc.sliceString(from) : null;
  }
  return null;
}

/** The names of methods and fields in the class around a place, without the name that is being typed. */
function membersAround(node: SyntaxNode, { state, pos }: CompletionContext): readonly Completion[] {
  let classNode: SyntaxNode | null = node;
  while (classNode && classNode.name !== 'ClassDefinition') classNode = classNode.parent;
  if (!classNode) return [];
  const text = state.sliceDoc(classNode.from, pos).replace(/\w*$/, '') + state.sliceDoc(pos, classNode.to);
  const fields = (classNode.getChild('Body')?.getChildren('AssignStatement') ?? []).flatMap(
    (each) => each.getChild('VariableName') ?? [],
  );
  const names = new Set([
    ...Array.from(text.matchAll(/\b(?:def |self\.)(\w+)/g), ([, name = '']) => name),
    ...fields.map(({ from, to }) => state.sliceDoc(from, to)),
  ]);
  return [...names].filter((name) => name !== DONE_COMPLETION.label).map((label) => ({ label }));
}
