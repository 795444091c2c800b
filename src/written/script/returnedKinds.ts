import type { SyntaxNode } from '@lezer/common';
import type { FileProblem } from '../../domain/environmentFile.ts';
import { visible } from '../../base/visible.ts';
import { childrenOf, descendants } from './syntax.ts';

/** The kind of a value, in the words of messages. */
type Kind = 'a number' | 'a text' | 'a boolean' | 'a list' | 'an object' | 'a function' | 'nothing';

/** Methods other than tools that have to return a text. */
const TEXT_METHODS: ReadonlySet<string> = new Set(['reset', 'stateKey', 'observe']);
const KINDS_OF_TYPES: Readonly<Record<string, Kind>> = {
  number: 'a number',
  string: 'a text',
  boolean: 'a boolean',
  void: 'nothing',
  null: 'nothing',
  undefined: 'nothing',
};
const KINDS_OF_NODES: Readonly<Record<string, Kind>> = {
  Number: 'a number',
  String: 'a text',
  TemplateString: 'a text',
  BooleanLiteral: 'a boolean',
  ArrayExpression: 'a list',
  ObjectExpression: 'an object',
  NewExpression: 'an object',
  ArrowFunction: 'a function',
  FunctionExpression: 'a function',
  null: 'nothing',
};
const BOOLEAN: readonly Kind[] = ['a boolean'];
/** The kinds of a value after a unary operator, such as `!` or `-`. */
const KINDS_OF_UNARY_OPERATORS: Readonly<Record<string, readonly Kind[]>> = {
  LogicOp: ['a boolean'],
  ArithOp: ['a number'],
  typeof: ['a text'],
  void: ['nothing'],
};
const KINDS_OF_CALLS: readonly (readonly [RegExp, Kind])[] = [
  [/^(?:Number|parseInt|parseFloat|Math\.\w+)$|\.(?:indexOf|lastIndexOf|findIndex|charCodeAt)$/, 'a number'],
  [/^String$|\.(?:join|toString|toFixed|toLowerCase|toUpperCase|trim|padStart|padEnd|repeat|replaceAll)$/, 'a text'],
  [/^(?:Boolean|Array\.isArray|Number\.is\w+)$|\.(?:includes|some|every|has|startsWith|endsWith)$/, 'a boolean'],
  [/\.(?:map|filter|split|toSorted|toReversed)$/, 'a list'],
];
const CONVERSIONS: Partial<Record<Kind, string>> = {
  'a boolean': ', such as `… ? 1 : 0`',
  'a text': ', such as `Number(…)`',
  'a list': ', such as its `length`',
};

/**
 * Finds methods of a class in TypeScript that return the wrong kind of value. `getReward()` must return a number or
 * named numbers, `turnReward()` a number; tools, `reset()`, `stateKey()` and `observe()` a text. Kinds are inferred
 * only from the expression itself: a literal, an operator, a well-known method, a field's type or first value. Values
 * of unknown kind are not reported.
 */
export function wrongReturns(
  declaration: SyntaxNode,
  source: string,
  lineOf: (at: number) => number,
  tools: readonly string[],
): readonly FileProblem[] {
  const members = childrenOf(declaration.getChild('ClassBody'));
  const text = (node: SyntaxNode) => source.slice(node.from, node.to);
  const nameOf = (member: SyntaxNode) => {
    const name = member.getChild('PropertyDefinition');
    return name ? text(name) : '';
  };
  const problems: FileProblem[] = [];
  for (const method of members) {
    const name = nameOf(method);
    const mustReturnText = TEXT_METHODS.has(name) || tools.includes(name);
    const block = method.getChild('Block');
    if (method.name !== 'MethodDeclaration' || !block || !(mustReturnText || /^(?:getReward|turnReward)$/.test(name)))
      continue;
    const kindsIn = kindsReader(members, nameOf, block, text);
    const returnStatements = [...descendants(block, isFunction)].filter((node) => node.name === 'ReturnStatement');
    const report = (at: SyntaxNode, what: string, kind: Kind) =>
      problems.push({ what: `${what} ${kind}. ${remedyFor(name, mustReturnText, kind)}`, line: lineOf(at.from) });
    if (
      returnStatements.length === 0 &&
      ![...descendants(block, isFunction)].some((node) => node.name === 'ThrowStatement')
    )
      report(method, `\`${name}()\` returns`, 'nothing');
    for (const statement of returnStatements) {
      const value = childrenOf(statement)[1];
      const kinds = !value || value.name === ';' ? (['nothing'] as const) : kindsIn(value);
      const wrongKind = kinds.find((kind) =>
        mustReturnText ? kind !== 'a text' : kind !== 'a number' && (kind !== 'an object' || name !== 'getReward'),
      );
      if (wrongKind) report(statement, `\`${name}()\` returns`, wrongKind);
      if (name !== 'getReward' || value?.name !== 'ObjectExpression') continue;
      for (const part of value.getChildren('Property')) {
        const key = part.getChild('PropertyDefinition') ?? part.getChild('String');
        const valueNode = part.lastChild;
        if (!key || !valueNode || part.getChild('Spread') || part.getChild('[')) continue;
        const badKind = (part.getChild('Block') ? ['a function' as const] : kindsIn(valueNode)).find(
          (kind) => kind !== 'a number',
        );
        if (badKind)
          report(part, `The reward part \`${visible(text(key).replace(/^(['"])(.*)\1$/, '$2'))}\` is`, badKind);
      }
    }
  }
  return problems;
}

function remedyFor(name: string, mustReturnText: boolean, kind: Kind): string {
  if (mustReturnText) return kind === 'nothing' ? 'Return a string.' : 'Return a string, such as `String(…)`.';
  if (kind === 'nothing' && name === 'getReward') return 'Return a number, or an object of named numbers.';
  return `Return a number${CONVERSIONS[kind] ?? ''}.`;
}

/** Whether a node is a function or class inside a method. Its return statements are not the method's. */
const isFunction = ({ name, parent }: SyntaxNode): boolean =>
  /^(?:Function|Class)(?:Expression|Declaration)$|^ArrowFunction$/.test(name) ||
  (name === 'Block' && parent?.name === 'Property');

/** Makes a function that infers, for an expression of a method, all kinds that its value can be known to have. */
function kindsReader(
  members: readonly SyntaxNode[],
  nameOf: (member: SyntaxNode) => string,
  block: SyntaxNode,
  text: (node: SyntaxNode) => string,
): (value: SyntaxNode) => readonly Kind[] {
  const constants = new Map<string, SyntaxNode>();
  for (const declarationNode of descendants(block, isFunction)) {
    if (declarationNode.name !== 'VariableDeclaration' || declarationNode.firstChild?.name !== 'const') continue;
    const [, name, , ...afterName] = childrenOf(declarationNode);
    const value = afterName.find(({ name: kind }) => kind !== ';');
    if (name?.name === 'VariableDefinition' && name.nextSibling?.name === 'Equals' && value)
      constants.set(text(name), value);
  }
  const kindsOfType = (node: SyntaxNode | null): readonly Kind[] => {
    const type = node ? text(node).replace(/^:\s*/, '') : '';
    if (Object.hasOwn(KINDS_OF_TYPES, type)) return [KINDS_OF_TYPES[type]!];
    return type.endsWith('[]') ? ['a list'] : [];
  };
  const kindsOfMember = (name: string, isCalled: boolean, depth: number): readonly Kind[] => {
    const classMember = members.find((each) => nameOf(each) === name && !each.getChild('static'));
    if (!classMember) return [];
    if (classMember.name === 'MethodDeclaration') {
      const isGetter = classMember.getChild('get') !== null;
      return isGetter === isCalled
        ? isCalled
          ? []
          : ['a function']
        : kindsOfType(classMember.getChild('TypeAnnotation'));
    }
    const annotation = classMember.getChild('TypeAnnotation');
    const initialValue = classMember.getChild('Equals')?.nextSibling;
    if (isCalled) return [];
    // a field that begins as null or undefined will get another value later
    return annotation
      ? kindsOfType(annotation)
      : initialValue
        ? kindsOf(initialValue, depth).filter((kind) => kind !== 'nothing')
        : [];
  };
  /** The kinds of a value in the case that it is truthy. For `a && b` these are the kinds of b. */
  const whenTrue = (node: SyntaxNode, depth: number): readonly Kind[] => {
    const [, operator, b] = childrenOf(node);
    if (node.name === 'ParenthesizedExpression' && operator) return whenTrue(operator, depth);
    return b && operator && node.name === 'BinaryExpression' && text(operator) === '&&'
      ? kindsOf(b, depth)
      : kindsOf(node, depth);
  };
  const operation = (node: SyntaxNode, depth: number): readonly Kind[] => {
    const [a, operator, b] = childrenOf(node);
    if (!a || !operator || !b) return [];
    const [leftKinds, rightKinds] = [kindsOf(a, depth), kindsOf(b, depth)];
    switch (operator.name) {
      case 'CompareOp':
      case 'in':
      case 'instanceof':
        return ['a boolean'];
      case 'BitOp':
        return ['a number'];
      case 'ArithOp':
        if (text(operator) !== '+') return ['a number'];
        if ([...leftKinds, ...rightKinds].includes('a text')) return ['a text'];
        return leftKinds.join() === 'a number' && rightKinds.join() === 'a number' ? ['a number'] : [];
      case 'LogicOp':
        if (text(operator) === '??') return rightKinds;
        // the first value is the result if it is falsy (&&) or truthy (||)
        return [
          ...((text(operator) === '||' ? whenTrue(a, depth) : leftKinds).includes('a boolean') ? BOOLEAN : []),
          ...rightKinds,
        ];
      default:
        return [];
    }
  };
  function kindsOf(node: SyntaxNode, depth: number): readonly Kind[] {
    if (depth === 0) return []; // a constant may be defined by itself
    const children = childrenOf(node);
    switch (node.name) {
      case 'ParenthesizedExpression':
        return children[1] ? kindsOf(children[1], depth - 1) : [];
      case 'ConditionalExpression':
        return [children[2], children[4]].flatMap((branch) => (branch ? kindsOf(branch, depth - 1) : []));
      case 'UnaryExpression':
        return KINDS_OF_UNARY_OPERATORS[children[0]?.name ?? ''] ?? [];
      case 'PostfixExpression':
        // `x!` is x
        return children[1]?.name === 'LogicOp' && children[0] ? kindsOf(children[0], depth - 1) : ['a number'];
      case 'BinaryExpression':
        return operation(node, depth - 1);
      case 'VariableName': {
        const name = text(node);
        const constant = constants.get(name);
        return constant ? kindsOf(constant, depth - 1) : name === 'undefined' ? ['nothing'] : [];
      }
      case 'MemberExpression': {
        const property = node.getChild('PropertyName');
        if (property && node.firstChild?.name === 'this') return kindsOfMember(text(property), false, depth - 1);
        return property && text(property) === 'length' ? ['a number'] : [];
      }
      case 'CallExpression': {
        const callee = children[0];
        const propertyOfThis = callee?.firstChild?.name === 'this' ? callee.getChild('PropertyName') : null;
        if (propertyOfThis) return kindsOfMember(text(propertyOfThis), true, depth - 1);
        const known = callee && KINDS_OF_CALLS.find(([pattern]) => pattern.test(text(callee)));
        return known ? [known[1]] : [];
      }
      default:
        return Object.hasOwn(KINDS_OF_NODES, node.name) ? [KINDS_OF_NODES[node.name]!] : [];
    }
  }
  return (value) => kindsOf(value, 20);
}
