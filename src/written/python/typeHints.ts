import type { SyntaxNode } from '@lezer/common';
import { parser } from '@lezer/python';
import type { ParameterType, ValueSchema } from '../../text/toolSchema.ts';
import { childrenOf } from '../script/syntax.ts';

type Scalar = string | number | boolean | null;

/** A type hint that has no schema. The message says what to use instead. */
class HintProblem extends Error {}

/** The names of a file that its type hints may use. */
export interface HintNames {
  /** Values of each class that is an enum. Null if one of them is not a text, a number, true, false or None. */
  readonly enums: ReadonlyMap<string, readonly Scalar[] | null>;
  readonly aliases: ReadonlyMap<string, string>; // `Way = Literal["up", "down"]`: the name and what it stands for
  readonly imports: ReadonlyMap<string, string>; // `import List as L`: the name and its original
}

const ENUM_BASES: ReadonlySet<string> = new Set(['Enum', 'IntEnum', 'StrEnum', 'ReprEnum']);
const MAX_DEPTH = 8; // of aliases and lists in each other

/** Collects the enums, aliases and imports at the top level of a file. */
export function hintNames(file: SyntaxNode, text: (node: SyntaxNode) => string): HintNames {
  const enums = new Map<string, readonly Scalar[] | null>();
  const aliases = new Map<string, string>();
  const imports = new Map<string, string>();
  for (const statement of childrenOf(file)) {
    const node = statement.name === 'DecoratedStatement' ? statement.getChild('ClassDefinition') : statement;
    const children = childrenOf(node);
    const [name, ...more] = node?.getChildren('VariableName') ?? [];
    if (node?.name === 'ClassDefinition' && name) {
      const bases = childrenOf(node.getChild('ArgList')).map((base) => lastName(text(base)));
      const isEnum = (base: string) => ENUM_BASES.has(imports.get(base) ?? base) || enums.has(base);
      if (bases.some(isEnum)) enums.set(text(name), enumValues(node, bases.includes('StrEnum'), text));
    } else if (node?.name === 'AssignStatement' && name) {
      const value = children[children.findIndex((child) => child.name === 'AssignOp') + 1];
      if (value && more.every((other) => other.from >= value.from)) aliases.set(text(name), text(value));
    } else if (node?.name === 'TypeDefinition' && name) {
      aliases.set(text(name), text(children.at(-1) ?? name));
    } else if (node?.name === 'ImportStatement') {
      for (const [at, child] of children.entries()) {
        const [original, alias] = [children[at - 1], children[at + 1]];
        if (child.name === 'as' && original && alias) imports.set(text(alias), text(original));
      }
    }
  }
  return { enums, aliases, imports };
}

/** The values of an enum's members, each once. Null if one of them can't be written in JSON. */
function enumValues(
  node: SyntaxNode,
  autoIsName: boolean,
  text: (node: SyntaxNode) => string,
): readonly Scalar[] | null {
  const values: Scalar[] = [];
  for (const statement of node.getChild('Body')?.getChildren('AssignStatement') ?? []) {
    const [name, operator, value] = childrenOf(statement);
    if (name?.name !== 'VariableName' || text(name).startsWith('_')) continue;
    if (operator?.name !== 'AssignOp' || !value) return null;
    const isAuto = value.name === 'CallExpression' && /(?:^|\.)auto\(\)$/.test(text(value));
    const numbers = values.filter((each) => typeof each === 'number');
    const literal = isAuto
      ? autoIsName
        ? text(name).toLowerCase()
        : Math.max(0, ...numbers) + 1
      : scalarOf(value, text);
    if (literal === undefined) return null;
    if (!values.includes(literal)) values.push(literal);
  }
  return values;
}

/**
 * The schema of a type hint, as Transformers' `get_json_schema` makes it, from which TRL describes a tool. Returns a
 * text with the problem if the hint has no schema there.
 */
export function schemaOfHint(hint: string, names: HintNames): ValueSchema | string {
  try {
    return parsedSchema(hint, names, 0);
  } catch (error) {
    if (error instanceof HintProblem) return error.message;
    throw error;
  }
}

function parsedSchema(hint: string, names: HintNames, depth: number): ValueSchema {
  if (depth > MAX_DEPTH) throw new HintProblem('It is nested too deep.');
  const expression = parser.parse(hint).topNode.firstChild;
  const node = expression?.name === 'ExpressionStatement' ? expression.firstChild : null;
  if (!node || expression?.nextSibling) throw new HintProblem(SUPPORTED);
  const text = (part: SyntaxNode) => hint.slice(part.from, part.to);
  return schemaOf(node, text, names, depth);
}

const SUPPORTED =
  'Use str, int, float, bool, an enum, Literal["up", "down"], or a list, tuple, dict or union of these, as for TRL.';

const PLAIN: Readonly<Record<string, ValueSchema>> = {
  ...{ str: { type: 'string' }, int: { type: 'integer' }, float: { type: 'number' }, bool: { type: 'boolean' } },
  ...{ list: { type: 'array' }, List: { type: 'array' }, tuple: { type: 'array' }, Tuple: { type: 'array' } },
  ...{ dict: { type: 'object' }, Dict: { type: 'object' }, Any: {} },
};

function schemaOf(node: SyntaxNode, text: (node: SyntaxNode) => string, names: HintNames, depth: number): ValueSchema {
  if (depth > MAX_DEPTH) throw new HintProblem('It is nested too deep.');
  const inner = (part: SyntaxNode) => schemaOf(part, text, names, depth + 1);
  if (node.name === 'String') return parsedSchema(stringValue(text(node)), names, depth + 1);
  if (node.name === 'ParenthesizedExpression' && node.firstChild?.nextSibling)
    return inner(node.firstChild.nextSibling);
  if (node.name === 'None') return { type: 'null' };
  const isUnion = node.name === 'BinaryExpression' && childrenOf(node).some((part) => text(part) === '|');
  if (isUnion) return unionOf(unionParts(node, text), inner);
  const isSubscript = node.name === 'MemberExpression' && node.getChild('[') !== null;
  if (!isSubscript) {
    if (node.name !== 'VariableName' && node.name !== 'MemberExpression') throw new HintProblem(SUPPORTED);
    return namedSchema(lastName(text(node)), names, depth);
  }
  const [base, ...rest] = childrenOf(node);
  const name = base ? lastName(text(base)) : '';
  const parts = rest.filter((part) => !['[', ']', ',', '.', 'PropertyName'].includes(part.name));
  const [first] = parts;
  switch (names.imports.get(name) ?? name) {
    case 'Annotated':
      if (first) return inner(first);
      break;
    case 'Optional':
      if (first) return unionOf([...unionParts(first, text), null], inner);
      break;
    case 'Union':
      return unionOf(
        parts.flatMap((part) => unionParts(part, text)),
        inner,
      );
    case 'Literal':
      return choicesOf(parts.map((part) => scalarOf(part, text)));
    case 'list':
    case 'List':
      if (first) return { type: 'array', items: inner(first) };
      break;
    case 'tuple':
    case 'Tuple':
      if (parts.some((part) => part.name === 'Ellipsis'))
        throw new HintProblem('Use list[…] for a list of any length.');
      if (parts.length < 2) throw new HintProblem('Use list[…], or the type of its only item.');
      return { type: 'array', prefixItems: parts.map(inner) };
    case 'dict':
    case 'Dict':
      return { type: 'object', ...(parts[1] && { additionalProperties: inner(parts[1]) }) };
  }
  throw new HintProblem(SUPPORTED);
}

function namedSchema(name: string, names: HintNames, depth: number): ValueSchema {
  const values = names.enums.get(name);
  if (values) return choicesOf(values);
  if (values === null) throw new HintProblem('A value of that enum is not a text, a number, True, False or None.');
  const alias = names.aliases.get(name);
  if (alias !== undefined) return parsedSchema(alias, names, depth + 1);
  const original = names.imports.get(name) ?? name;
  const plain = Object.hasOwn(PLAIN, original) ? PLAIN[original] : undefined;
  if (plain) return plain;
  throw new HintProblem(SUPPORTED);
}

/** The members of a union, without the unions inside it. Null stands for None. */
function unionParts(node: SyntaxNode, text: (node: SyntaxNode) => string): readonly (SyntaxNode | null)[] {
  if (node.name === 'None') return [null];
  if (node.name !== 'BinaryExpression') return [node];
  return childrenOf(node)
    .filter((part) => text(part) !== '|')
    .flatMap((part) => unionParts(part, text));
}

function unionOf(parts: readonly (SyntaxNode | null)[], schemaOfPart: (node: SyntaxNode) => ValueSchema): ValueSchema {
  const all = parts.flatMap((part) => (part ? [schemaOfPart(part)] : []));
  // an optional part, such as an alias of `int | None`, makes the whole union optional
  const nullable = parts.includes(null) || all.some((schema) => schema.nullable);
  const flat = all.flatMap(({ nullable: _nullable, ...schema }) => unionMembers(schema));
  const schemas = [...new Map(flat.map((schema) => [JSON.stringify(schema), schema])).values()];
  const types = [...new Set(schemas.map(({ type }) => type))].toSorted() as ParameterType[];
  const isPlain = schemas.every((schema) => typeof schema.type === 'string' && Object.keys(schema).length === 1);
  const union: ValueSchema =
    schemas.length === 1
      ? schemas[0]!
      : isPlain
        ? { type: types.length === 1 ? types[0]! : types }
        : { anyOf: schemas };
  return { ...union, ...(nullable && { nullable }) };
}

function unionMembers(schema: ValueSchema): readonly ValueSchema[] {
  if (schema.anyOf) return schema.anyOf;
  return Array.isArray(schema.type) && !schema.enum
    ? (schema.type as ParameterType[]).map((type): ValueSchema => ({ type }))
    : [schema];
}

/** The schema of a list of values. Undefined stands for a value that JSON doesn't have. */
function choicesOf(values: readonly (Scalar | undefined)[]): ValueSchema {
  const scalars = values.filter((value) => value !== undefined);
  if (scalars.length === 0 || scalars.length < values.length)
    throw new HintProblem('Its choices have to be texts, numbers, True, False or None.');
  const types = [...new Set(scalars.map(typeOf))];
  return { type: types.length === 1 ? types[0]! : types, enum: scalars };
}

function typeOf(value: Scalar): ParameterType {
  if (value === null) return 'null';
  if (typeof value === 'number') return Number.isInteger(value) ? 'integer' : 'number';
  return typeof value === 'string' ? 'string' : 'boolean';
}

/** The value of a literal; undefined for anything else. */
function scalarOf(node: SyntaxNode, text: (node: SyntaxNode) => string): Scalar | undefined {
  if (node.name === 'String') return stringValue(text(node));
  if (node.name === 'None') return null;
  if (node.name === 'Boolean') return text(node) === 'True';
  const digits = text(node).replaceAll('_', '');
  return /^-?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?$/i.test(digits) ? Number(digits) : undefined;
}

const lastName = (dotted: string) => dotted.slice(dotted.lastIndexOf('.') + 1);

const ESCAPED: Readonly<Record<string, string>> = { n: '\n', t: '\t', '\n': '' };

export function stringValue(literal: string): string {
  const [, prefix = '', , inner = ''] = /^([a-zA-Z]*)("""|'''|"|')([\s\S]*)\2$/.exec(literal) ?? [];
  if (/r/i.test(prefix)) return inner;
  return inner.replaceAll(/\\([\s\S])/g, (_, letter: string) => ESCAPED[letter] ?? letter);
}
