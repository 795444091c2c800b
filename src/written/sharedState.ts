import type { SyntaxNode } from '@lezer/common';
import { parser } from '@lezer/javascript';
import { childrenOf, descendants, lineFinder } from './syntax.ts';

const isFunction = ({ name }: SyntaxNode) =>
  /^(?:ArrowFunction|MethodDeclaration|FunctionDeclaration|FunctionExpression)$/.test(name);
const isInner = (node: SyntaxNode) => isFunction(node) || node.name === 'ClassBody';
/** Matches what follows a name that is given a value. */
const GIVEN = /^\s*(?:(?:[-+*/%&|^]|\*\*|<<|>>>?|&&|\|\||\?\?)?=(?![=>])|\+\+|--)/;

/**
 * Adds to a file's JavaScript the statements that put what all episodes share into `exports.shared`, where inside.js
 * freezes and watches it: the variables outside of classes and functions, and the classes' private static fields. Each
 * is `[name, line, read]`. `line` is where a function gives it a new value, else where it's declared; 0 if it can't get
 * another value.
 *
 * Out of reach are a function's own variables, such as the `n` of `(() => { let n = 0; return () => n++; })()`, and
 * private fields of the objects that are shared. Changes there are seen only if the check's replay differs.
 */
export function withSharedNames(code: string): string {
  const program = parser.parse(code).topNode;
  const lineOf = lineFinder(code);
  const text = ({ from, to }: SyntaxNode) => code.slice(from, to);
  const changes = new Map<string, number>(); // by name: the first line in a function that gives it a value
  for (const outer of [program, ...descendants(program, isFunction)].flatMap(childrenOf).filter(isFunction)) {
    for (const node of descendants(outer, () => false)) {
      if (!/^(?:VariableName|PrivatePropertyName)$/.test(node.name) || changes.has(text(node))) continue;
      const [before, after] = [code.slice(Math.max(0, node.from - 40), node.from), code.slice(node.to, node.to + 40)];
      if (GIVEN.test(after) || /(?:\+\+|--)[\w.]*$/.test(before)) changes.set(text(node), lineOf(node.from));
    }
  }
  const handOver = (read: string, line: number) =>
    `(exports.shared ??= []).push(["${read.replace('this.', '')}",${line},()=>${read}]);`;
  const declared = childrenOf(program).flatMap((statement) => {
    const isVariable = statement.name === 'VariableDeclaration';
    const isConstant = statement.firstChild?.name === 'const';
    const names = isVariable ? [...descendants(statement, isInner)] : childrenOf(statement);
    return names
      .filter(({ name }) => name === 'VariableDefinition' && statement.name.endsWith('Declaration'))
      .map((node) => {
        const line = changes.get(text(node)) ?? (isVariable ? lineOf(node.from) : 0);
        return handOver(text(node), isConstant ? 0 : line);
      });
  });
  let result = code;
  const bodies = [...descendants(program, isFunction)].filter(({ name }) => name === 'ClassBody');
  for (const body of bodies.toSorted((a, b) => b.to - a.to)) {
    const fields = body.getChildren('PropertyDeclaration').filter((field) => text(field).startsWith('static'));
    const names = fields.flatMap((field) => field.getChildren('PrivatePropertyDefinition'));
    const statements = names.map((node) =>
      handOver(`this.${text(node)}`, changes.get(text(node)) ?? lineOf(node.from)),
    );
    if (statements.length > 0)
      result = `${result.slice(0, body.to - 1)};static{${statements.join('')}}${result.slice(body.to - 1)}`;
  }
  return `${result}\n${declared.join('')}`;
}
