import type { SyntaxNode } from '@lezer/common';
import type { FileProblem } from '../domain/environmentFile.ts';
import { childrenOf, descendants, missingMembers } from './syntax.ts';

/** After `this.x`, for a value that the statement gives it: `=` and `??=`, but not `==`, `=>` or `+=`, which read it first. */
const GIVEN = /^\s*(?:=(?![=>])|(?:\?\?|\|\|)=)/;
/** Code that may set members without naming them. */
const BY_ANOTHER_WAY = /\bthis\s*(?:\?\.)?\s*\[|Object\.assign\s*\(\s*this\b|\bdefineProperty\s*\(\s*this\b/;

/**
 * Members that a class in TypeScript uses as `this.x` and that it neither declares nor gives a value: usually a name that was mistyped. A
 * class that extends another may have more members than its file says, so it has none of these problems. Each name comes once, at the first line that uses it.
 */
export function undeclaredMembers(
  declaration: SyntaxNode,
  source: string,
  lineOf: (at: number) => number,
): readonly FileProblem[] {
  const body = declaration.getChild('ClassBody');
  if (!body || declaration.getChild('extends') || BY_ANOTHER_WAY.test(source.slice(body.from, body.to))) return [];
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

/** Whether a statement gives this member a value: by itself, in a loop, or as a part of a list or an object that is taken apart. */
function isGivenValue(node: SyntaxNode, source: string): boolean {
  if (GIVEN.test(after(node, source))) return true;
  for (let at = node.parent; at && !/Statement$|^Block$/.test(at.name); at = at.parent) {
    if (/^(?:Array|Object)Expression$/.test(at.name) && GIVEN.test(after(at, source))) return true;
    if (/^For(?:Of|In)Spec$/.test(at.name)) return at.firstChild?.nextSibling?.from === node.from;
  }
  return false;
}

const after = ({ to }: SyntaxNode, source: string) => source.slice(to, to + 40);

/** Functions and classes in which `this` is something else than the environment. */
const hasItsOwnThis = ({ name, parent }: SyntaxNode): boolean =>
  /^(?:Function|Class)(?:Expression|Declaration)$/.test(name) || (name === 'Block' && parent?.name === 'Property');
