import type { SyntaxNode } from '@lezer/common';
import type { FileProblem } from '../../domain/environmentFile.ts';
import { childrenOf, descendants, missingMembers } from './syntax.ts';

/**
 * Matches an assignment after `this.x`: `=`, `??=` or `||=`, but not `==` or `=>`, and not `+=`, which reads the member
 * first.
 */
const ASSIGNMENT = /^\s*(?:=(?![=>])|(?:\?\?|\|\|)=)/;
/** Code that may set members without naming them. */
export const DYNAMIC_MEMBERS = /\bthis\s*(?:\?\.\s*)?\[|Object\.assign\s*\(\s*this\b|\bdefineProperty\s*\(\s*this\b/;

/**
 * Finds members that a class in TypeScript uses as `this.x` but neither declares nor gives a value; usually the name
 * was mistyped. A class that extends another is not checked, because it may have members that the file doesn't show.
 * Each name is reported once, at the first line that uses it.
 */
export function undeclaredMembers(
  declaration: SyntaxNode,
  source: string,
  lineOf: (at: number) => number,
): readonly FileProblem[] {
  const body = declaration.getChild('ClassBody');
  if (!body || declaration.getChild('extends') || DYNAMIC_MEMBERS.test(source.slice(body.from, body.to))) return [];
  const knownMembers = new Set(['constructor']);
  for (const member of childrenOf(body)) {
    const name = member.getChild('PropertyDefinition') ?? member.getChild('PrivatePropertyDefinition');
    if (name) knownMembers.add(source.slice(name.from, name.to));
    for (const parameter of member.getChild('ParamList')?.getChildren('Privacy') ?? [])
      if (parameter.nextSibling) knownMembers.add(source.slice(parameter.nextSibling.from, parameter.nextSibling.to));
  }
  const { read, given } = memberUses(body, source);
  return missingMembers(
    read,
    new Set([...knownMembers, ...given.keys()]),
    lineOf,
    (name) => `Declare it at the top of the class, such as \`${name} = 0;\``,
  );
}

/** The members that a class reads, and those that it gives a value, each with the first place of that. */
export function memberUses(body: SyntaxNode, source: string) {
  const [read, given] = [new Map<string, SyntaxNode>(), new Map<string, SyntaxNode>()];
  for (const node of descendants(body, hasItsOwnThis)) {
    if (node.name !== 'MemberExpression' || node.firstChild?.name !== 'this') continue;
    const property = node.getChild('PropertyName') ?? node.getChild('PrivatePropertyName');
    if (!property) continue;
    const name = source.slice(property.from, property.to);
    const uses = isGivenValue(node, source) ? given : read;
    if (!uses.has(name)) uses.set(name, node);
  }
  return { read, given };
}

/**
 * Whether a statement gives this member a value: by an assignment, as the variable of a loop, or in a destructuring
 * pattern.
 */
function isGivenValue(node: SyntaxNode, source: string): boolean {
  if (ASSIGNMENT.test(textAfter(node, source))) return true;
  for (let ancestor = node.parent; ancestor && !/Statement$|^Block$/.test(ancestor.name); ancestor = ancestor.parent) {
    if (/^(?:Array|Object)Expression$/.test(ancestor.name) && ASSIGNMENT.test(textAfter(ancestor, source))) return true;
    if (/^For(?:Of|In)Spec$/.test(ancestor.name)) return ancestor.firstChild?.nextSibling?.from === node.from;
  }
  return false;
}

const textAfter = ({ to }: SyntaxNode, source: string) => source.slice(to, to + 40);

/** Whether a node is a function or class in which `this` is not the environment. */
const hasItsOwnThis = ({ name, parent }: SyntaxNode): boolean =>
  /^(?:Function|Class)(?:Expression|Declaration)$/.test(name) || (name === 'Block' && parent?.name === 'Property');
