import type { SyntaxNode } from '@lezer/common';
import { visible } from '../base/visible.ts';
import type { FileProblem } from '../domain/environmentFile.ts';

/** The nodes directly below a node of a syntax tree. */
export function childrenOf(node: SyntaxNode | null): readonly SyntaxNode[] {
  const children: SyntaxNode[] = [];
  for (let child = node?.firstChild ?? null; child; child = child.nextSibling) children.push(child);
  return children;
}

/**
 * Yields all nodes below a node, in the order of the text. Skips a node for which `isSkipped` is true, with everything
 * below it.
 */
export function* descendants(node: SyntaxNode, isSkipped: (node: SyntaxNode) => boolean): Generator<SyntaxNode, void> {
  for (const child of childrenOf(node)) {
    if (isSkipped(child)) continue;
    yield child;
    yield* descendants(child, isSkipped);
  }
}

/**
 * The problems for members that a class uses but doesn't have. `usedMembers` has for each name the first place that
 * uses it. `remedy` gives the advice for a missing field; the advice for a missing method is to add it.
 */
export function missingMembers(
  usedMembers: ReadonlyMap<string, SyntaxNode>,
  knownMembers: ReadonlySet<string>,
  lineOf: (at: number) => number,
  remedy: (name: string) => string,
): readonly FileProblem[] {
  return [...usedMembers]
    .filter(([name]) => !knownMembers.has(name))
    .map(([raw, node]) => {
      const name = visible(raw);
      const called = node.parent?.name === 'CallExpression' && node.parent.firstChild?.from === node.from;
      const what = called ? `method \`${name}\`. Add it` : `\`${name}\`. ${remedy(name)}`;
      return { what: `The class has no ${what}, or correct the name.`, line: lineOf(node.from) };
    });
}
