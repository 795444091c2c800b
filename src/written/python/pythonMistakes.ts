import type { SyntaxNode } from '@lezer/common';
import { visible } from '../../base/visible.ts';
import type { FileProblem } from '../../domain/environmentFile.ts';
import { childrenOf, descendants, missingMembers } from '../script/syntax.ts';

/** Code that may set members without naming them, or may have inherited members that the file doesn't show. */
const DYNAMIC_MEMBERS = /\bsetattr\s*\(|\b__(?:dict|getattr|getattribute|slots)__|\bvars\s*\(|\bsuper\s*\(/;

interface ClassToCheck {
  /** The class and the classes that it inherits from. Null if one of them isn't in the file. */
  readonly lineage: readonly SyntaxNode[] | null;
  readonly getReward: SyntaxNode | undefined;
}

/**
 * Probable mistakes in a class in Python that don't prevent playing: members that are used as `self.x` but never get a
 * value, and a `get_reward` that doesn't return a number. `self.x += 1` alone doesn't count as giving a value, because
 * there is none to change.
 */
export function pythonMistakes(
  { lineage, getReward }: ClassToCheck,
  text: (node: SyntaxNode) => string,
  lineOf: (at: number) => number,
): readonly FileProblem[] {
  const rewards = getReward ? wrongRewards(getReward, text, lineOf) : [];
  return [...undeclaredMembers(lineage ?? [], text, lineOf), ...rewards].toSorted(
    (a, b) => Number(a.line) - Number(b.line),
  );
}

function undeclaredMembers(
  lineage: readonly SyntaxNode[],
  text: (node: SyntaxNode) => string,
  lineOf: (at: number) => number,
): readonly FileProblem[] {
  if (lineage.some((node) => DYNAMIC_MEMBERS.test(text(node)))) return [];
  const knownMembers = membersOf(lineage, text);
  const usedMembers = new Map<string, SyntaxNode>();
  for (const { name, node } of selfMembers(lineage, text))
    if (!/^__\w+__$/.test(name) && !usedMembers.has(name)) usedMembers.set(name, node);
  return missingMembers(usedMembers, knownMembers, lineOf, () => 'Give it a value in `reset`');
}

/** The names of the members of classes: methods, fields, and each `self.x` that gets a value. */
function membersOf(classes: readonly SyntaxNode[], text: (node: SyntaxNode) => string): ReadonlySet<string> {
  const assignments = selfMembers(classes, text).filter(({ node }) => isGivenValue(node));
  return new Set([...classes.flatMap((node) => fieldsOf(node, text)), ...assignments.map(({ name }) => name)]);
}

/** Each occurrence of a member `self.x`. */
function selfMembers(
  classes: readonly SyntaxNode[],
  text: (node: SyntaxNode) => string,
): readonly { readonly name: string; readonly node: SyntaxNode }[] {
  return classes
    .flatMap((each) => [...descendants(each, ({ name }) => name === 'ClassDefinition')])
    .filter((node) => node.name === 'MemberExpression' && node.firstChild && text(node.firstChild) === 'self')
    .flatMap((node) => {
      const property = node.getChild('PropertyName');
      return property ? [{ name: text(property), node }] : [];
    });
}

/** The names in a class's body: methods, and fields with a value. */
function fieldsOf(node: SyntaxNode, text: (node: SyntaxNode) => string): readonly string[] {
  const names: string[] = [];
  for (const found of descendants(node, ({ name, parent }) => name === 'Body' && parent?.name !== 'ClassDefinition')) {
    if (found.name === 'FunctionDefinition' || found.name === 'ClassDefinition')
      names.push(...found.getChildren('VariableName').map(text));
    if (found.name === 'AssignStatement') names.push(...found.getChildren('VariableName').map(text));
  }
  return names;
}

/** Whether this occurrence gives `self.x` a value: before an `=`, alone or in a list, or as the variable of a loop. */
function isGivenValue(node: SyntaxNode): boolean {
  let outermost = node;
  while (outermost.parent && /^(?:Tuple|Array|Parenthesized)Expression$/.test(outermost.parent.name))
    outermost = outermost.parent;
  const { parent } = outermost;
  if (parent?.name === 'AssignStatement')
    return childrenOf(parent).some(({ name, from }) => name === 'AssignOp' && from > outermost.from);
  return (
    parent?.name === 'ForStatement' &&
    childrenOf(parent).some(({ name, from }) => name === 'in' && from > outermost.from)
  );
}

const NOT_NUMBERS: Readonly<Record<string, string>> = {
  String: 'a text',
  FormatString: 'a text',
  ContinuedString: 'a text',
  ArrayExpression: 'a list',
  TupleExpression: 'a tuple',
  SetExpression: 'a set',
  LambdaExpression: 'a function',
  None: '`None`',
};

function wrongRewards(
  method: SyntaxNode,
  text: (node: SyntaxNode) => string,
  lineOf: (at: number) => number,
): readonly FileProblem[] {
  const methodNodes = [
    ...descendants(method, ({ name }) => /^(?:Function|Class)Definition$|^LambdaExpression$/.test(name)),
  ];
  const returnStatements = methodNodes.filter(({ name }) => name === 'ReturnStatement');
  if (
    returnStatements.length === 0 &&
    !methodNodes.some(({ name }) => name === 'RaiseStatement' || name === 'YieldExpression')
  )
    return [{ what: `\`get_reward()\` returns \`None\`. ${REMEDY}`, line: lineOf(method.from) }];
  return returnStatements.flatMap((statement) => {
    const value = childrenOf(statement)[1];
    const wrongKind = value ? NOT_NUMBERS[value.name] : '`None`';
    if (wrongKind) return [{ what: `\`get_reward()\` returns ${wrongKind}. ${REMEDY}`, line: lineOf(statement.from) }];
    if (value?.name !== 'DictionaryExpression') return [];
    return value.getChildren(':').flatMap(({ prevSibling: key, nextSibling: valueNode }) => {
      const badKind = valueNode && NOT_NUMBERS[valueNode.name];
      const name = key ? visible(text(key).replace(/^(['"])(.*)\1$/, '$2')) : '';
      return badKind
        ? [{ what: `The reward part \`${name}\` is ${badKind}. Return a number.`, line: lineOf(valueNode.from) }]
        : [];
    });
  });
}

const REMEDY = 'Return a number, or a dictionary of named numbers.';
