import type { SyntaxNode } from '@lezer/common';
import type { FileProblem } from '../domain/environmentFile.ts';
import { childrenOf, descendants, missingMembers } from './syntax.ts';

/**
 * Matches an assignment after `this.x`: `=`, `??=` or `||=`, but not `==` or `=>`, and not `+=`, which reads the member
 * first.
 */
const ASSIGNMENT = /^\s*(?:=(?![=>])|(?:\?\?|\|\|)=)/;
/** Code that may set members without naming them. */
const DYNAMIC_MEMBERS = /\bthis\s*(?:\?\.)?\s*\[|Object\.assign\s*\(\s*this\b|\bdefineProperty\s*\(\s*this\b/;

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
  const known = new Set(['constructor']);
  for (const member of childrenOf(body)) {
    const name = member.getChild('PropertyDefinition') ?? member.getChild('PrivatePropertyDefinition');
    if (name) known.add(source.slice(name.from, name.to));
    for (const parameter of member.getChild('ParamList')?.getChildren('Privacy') ?? [])
      if (parameter.nextSibling) known.add(source.slice(parameter.nextSibling.from, parameter.nextSibling.to));
  }
  const used = new Map<string, SyntaxNode>();
  for (const node of descendants(body, hasItsOwnThis)) {
    if (node.name !== 'MemberExpression' || node.firstChild?.name !== 'this') continue;
    const property = node.getChild('PropertyName') ?? node.getChild('PrivatePropertyName');
    if (!property) continue;
    const name = source.slice(property.from, property.to);
    if (isGivenValue(node, source)) known.add(name);
    else if (!used.has(name)) used.set(name, node);
  }
  return missingMembers(used, known, lineOf, (name) => `Declare it at the top of the class, such as \`${name} = 0;\``);
}

/**
 * Whether a statement gives this member a value: by an assignment, as the variable of a loop, or in a destructuring
 * pattern.
 */
function isGivenValue(node: SyntaxNode, source: string): boolean {
  if (ASSIGNMENT.test(textAfter(node, source))) return true;
  for (let at = node.parent; at && !/Statement$|^Block$/.test(at.name); at = at.parent) {
    if (/^(?:Array|Object)Expression$/.test(at.name) && ASSIGNMENT.test(textAfter(at, source))) return true;
    if (/^For(?:Of|In)Spec$/.test(at.name)) return at.firstChild?.nextSibling?.from === node.from;
  }
  return false;
}

const textAfter = ({ to }: SyntaxNode, source: string) => source.slice(to, to + 40);

/** Whether a node is a function or class in which `this` is not the environment. */
const hasItsOwnThis = ({ name, parent }: SyntaxNode): boolean =>
  /^(?:Function|Class)(?:Expression|Declaration)$/.test(name) || (name === 'Block' && parent?.name === 'Property');
