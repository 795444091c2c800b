import type { SyntaxNode } from '@lezer/common';

/** The nodes directly below a node of a syntax tree. */
export function childrenOf(node: SyntaxNode | null): readonly SyntaxNode[] {
  const children: SyntaxNode[] = [];
  for (let child = node?.firstChild ?? null; child; child = child.nextSibling) children.push(child);
  return children;
}

/** All nodes below a node, in the order of the text, without those that `isClosed` is true of and what is below them. */
export function* descendants(node: SyntaxNode, isClosed: (node: SyntaxNode) => boolean): Generator<SyntaxNode, void> {
  for (const child of childrenOf(node)) {
    if (isClosed(child)) continue;
    yield child;
    yield* descendants(child, isClosed);
  }
}
