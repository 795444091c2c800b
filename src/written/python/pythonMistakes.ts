import type { SyntaxNode } from '@lezer/common';
import { visible } from '../../base/visible.ts';
import type { FileProblem } from '../../domain/environmentFile.ts';
import { childrenOf, descendants, missingMembers } from '../syntax.ts';

/** Code that may set members without naming them, or has more than the file says. */
const BY_ANOTHER_WAY = /\bsetattr\s*\(|\b__(?:dict|getattr|getattribute|slots)__|\bvars\s*\(|\bsuper\s*\(/;

/** The class that is trained on, as the file has it. */
interface ReadClass {
  /** The class and those of the file that it inherits from; null if it inherits from one that isn't in the file. */
  readonly lineage: readonly SyntaxNode[] | null;
  readonly getReward: SyntaxNode | undefined;
}

/**
 * What looks like a mistake in a class in Python, though it can be played: members that it uses as `self.x` and never gives a value, and
 * a `get_reward` that returns no number. A member that is only changed (`self.x += 1`) has no value to change.
 */
export function pythonMistakes(
  { lineage, getReward }: ReadClass,
  text: (node: SyntaxNode) => string,
  lineOf: (at: number) => number,
): readonly FileProblem[] {
  const rewards = getReward ? wrongRewards(getReward, text, lineOf) : [];
  return [...undeclared(lineage ?? [], text, lineOf), ...rewards].toSorted((a, b) => Number(a.line) - Number(b.line));
}

function undeclared(
  lineage: readonly SyntaxNode[],
  text: (node: SyntaxNode) => string,
  lineOf: (at: number) => number,
): readonly FileProblem[] {
  if (lineage.some((node) => BY_ANOTHER_WAY.test(text(node)))) return [];
  const known = membersOf(lineage, text);
  const used = new Map<string, SyntaxNode>();
  for (const { name, node } of selfMembers(lineage, text))
    if (!/^__\w+__$/.test(name) && !used.has(name)) used.set(name, node);
  return missingMembers(used, known, lineOf, () => 'Give it a value in `reset`');
}

/** The members that classes have: their methods and fields, and each `self.x` that they give a value. */
function membersOf(classes: readonly SyntaxNode[], text: (node: SyntaxNode) => string): ReadonlySet<string> {
  const assignments = selfMembers(classes, text).filter(({ node }) => isGivenValue(node));
  return new Set([...classes.flatMap((node) => fieldsOf(node, text)), ...assignments.map(({ name }) => name)]);
}

/** Each place that names a member of the episode: `self.x`. */
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

/** Names that a class has in its body: methods, and fields with a value. */
function fieldsOf(node: SyntaxNode, text: (node: SyntaxNode) => string): readonly string[] {
  const names: string[] = [];
  for (const found of descendants(node, ({ name, parent }) => name === 'Body' && parent?.name !== 'ClassDefinition')) {
    if (found.name === 'FunctionDefinition' || found.name === 'ClassDefinition')
      names.push(...found.getChildren('VariableName').map(text));
    if (found.name === 'AssignStatement') names.push(...found.getChildren('VariableName').map(text));
  }
  return names;
}

/** Whether `self.x` stands where it is given a value: before an `=`, alone or among others, or as the variable of a loop. */
function isGivenValue(node: SyntaxNode): boolean {
  let at = node;
  while (at.parent && /^(?:Tuple|Array|Parenthesized)Expression$/.test(at.parent.name)) at = at.parent;
  const { parent } = at;
  if (parent?.name === 'AssignStatement')
    return childrenOf(parent).some(({ name, from }) => name === 'AssignOp' && from > at.from);
  return (
    parent?.name === 'ForStatement' && childrenOf(parent).some(({ name, from }) => name === 'in' && from > at.from)
  );
}

const NO_NUMBERS: Readonly<Record<string, string>> = {
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
  const inside = [...descendants(method, ({ name }) => /^(?:Function|Class)Definition$|^LambdaExpression$/.test(name))];
  const returned = inside.filter(({ name }) => name === 'ReturnStatement');
  if (returned.length === 0 && !inside.some(({ name }) => name === 'RaiseStatement' || name === 'YieldExpression'))
    return [{ what: `\`get_reward()\` returns \`None\`. ${WANTED}`, line: lineOf(method.from) }];
  return returned.flatMap((statement) => {
    const value = childrenOf(statement)[1];
    const wrong = value ? NO_NUMBERS[value.name] : '`None`';
    if (wrong) return [{ what: `\`get_reward()\` returns ${wrong}. ${WANTED}`, line: lineOf(statement.from) }];
    if (value?.name !== 'DictionaryExpression') return [];
    return value.getChildren(':').flatMap(({ prevSibling: key, nextSibling: amount }) => {
      const bad = amount && NO_NUMBERS[amount.name];
      const name = key ? visible(text(key).replace(/^(['"])(.*)\1$/, '$2')) : '';
      return bad
        ? [{ what: `The reward part \`${name}\` is ${bad}. Return a number.`, line: lineOf(amount.from) }]
        : [];
    });
  });
}

const WANTED = 'Return a number, or a dictionary of named numbers.';
