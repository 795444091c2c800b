import type { Parser, SyntaxNode } from '@lezer/common';
import { visible } from '../../base/visible.ts';
import { EnvironmentFileError, type FileProblem } from '../../domain/environmentFile.ts';

/**
 * Deepest nesting of an environment's code, in nodes of its syntax tree. What reads the tree, and the programs that
 * compile the code, call themselves at each level, so deeper code would end them with a full call stack.
 */
const MAX_SYNTAX_DEPTH = 600;

/** Parses a file. Throws EnvironmentFileError with the line where its code is nested too deep. */
export function parsedFile(parser: Parser, source: string, lineOf: (at: number) => number): SyntaxNode {
  const tree = parsedOrNull(parser, source, lineOf);
  if (tree) return tree;
  // the parser's own call stack is full; a shorter beginning of the file shows the place
  let [read, unread] = [0, source.length];
  while (unread - read > 1) {
    const middle = (read + unread) >> 1;
    if (parsedOrNull(parser, source.slice(0, middle), lineOf)) read = middle;
    else unread = middle;
  }
  throw tooDeep(lineOf(read));
}

/** The syntax tree of a text; null if the call stack is too small to parse it. */
function parsedOrNull(parser: Parser, source: string, lineOf: (at: number) => number): SyntaxNode | null {
  let tree;
  try {
    tree = parser.parse(source);
  } catch (error) {
    if (error instanceof RangeError) return null;
    throw error;
  }
  let depth = 0;
  tree.iterate({
    enter: ({ from }) => {
      if (++depth > MAX_SYNTAX_DEPTH) throw tooDeep(lineOf(from));
    },
    leave: () => void depth--,
  });
  return tree.topNode;
}

const tooDeep = (line: number) =>
  new EnvironmentFileError(
    `The code is nested too deep here. Use at most about ${MAX_SYNTAX_DEPTH} blocks, brackets or operators inside each other.`,
    line,
  );

/** Returns a function that gives the line of a place in a text, from 1. */
export function lineFinder(source: string): (at: number) => number {
  const lineEnds = Array.from(source.matchAll(/\n/g), ({ index }) => index);
  return (at) => {
    let [low, high] = [0, lineEnds.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((lineEnds[middle] ?? 0) < at) low = middle + 1;
      else high = middle;
    }
    return low + 1;
  };
}

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
