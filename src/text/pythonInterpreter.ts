import { Environment, Interpreter } from '@huggingface/jinja';
import {
  type JsonStyle,
  jsonStyle,
  pythonEquals,
  pythonJoin,
  pythonJson,
  pythonText,
  templateValue,
  type Value,
} from './pythonValues.ts';
import { TEXT_METHODS } from './pythonTextMethods.ts';

export interface Node {
  readonly type: string;
}
interface MemberNode extends Node {
  readonly object: Node;
  readonly property: Node & { readonly value?: unknown };
  readonly computed: boolean;
}
interface KeywordNode extends Node {
  readonly key?: { readonly value: string };
  readonly value?: Node;
}
interface FilterNode extends Node {
  readonly operand: Node;
  readonly filter: Node & {
    readonly value?: string;
    readonly callee?: { readonly value?: string };
    readonly args?: KeywordNode[];
  };
}
interface BinaryNode extends Node {
  readonly operator: { readonly value: string };
  readonly left: Node;
  readonly right: Node;
}
interface BlockNode extends Node {
  readonly body?: readonly Node[];
  readonly alternate?: readonly Node[];
  readonly defaultBlock?: readonly Node[];
}
interface MacroNode extends Node {
  readonly name: { readonly value: string };
}
interface IfNode extends Node {
  readonly test: Node;
  readonly body: readonly Node[];
  readonly alternate: readonly Node[];
}
interface LoopNode extends Node {
  readonly iterable: Node & { readonly lhs?: Node };
  readonly loopvar: { readonly value: string | readonly { readonly value: string }[] };
  readonly body: Node[];
  readonly defaultBlock: readonly Node[];
}

/** A computed value, wrapped as a node for the library. */
class ValueNode implements Node {
  readonly type = 'ValueNode';
  readonly value: Value;
  constructor(value: Value) {
    this.value = value;
  }
}

/** A node at the beginning of a loop's body. It removes the variables that the previous iteration set. */
class IterationStart implements Node {
  readonly type = 'IterationStart';
  readonly keptNames: ReadonlySet<string>;
  constructor({ loopvar: { value } }: LoopNode) {
    const names = typeof value === 'string' ? [value] : value.map((name) => name.value);
    this.keptNames = new Set(['loop', 'namespace', ...names]);
  }
}

/**
 * The body of a loop, for one run of the loop. Unlike the library's, it keeps what an iteration wrote before `continue`
 * or `break`.
 */
class LoopBody implements Node {
  readonly type = 'LoopBody';
  readonly statements: readonly Node[];
  textBeforeBreak = '';
  hasFinished = false; // an iteration wasn't left early
  constructor(statements: readonly Node[]) {
    this.statements = statements;
  }
}

/** Thrown to leave an iteration, with what the statements around it have written in this iteration. */
class LeftIteration extends Error {
  readonly statement: 'Break' | 'Continue';
  readonly written: string;
  constructor(statement: 'Break' | 'Continue', written: string) {
    super(`${statement.toLowerCase()} stands outside of a loop`);
    this.statement = statement;
    this.written = written;
  }
}

const STATEMENT_TYPES = new Set([
  'Set',
  'If',
  'For',
  'Macro',
  'CallStatement',
  'FilterStatement',
  'Break',
  'Continue',
  'Comment',
]);
/**
 * Operators that the library computes differently from Python: it compares loosely, adds texts and numbers, and writes
 * values like JavaScript.
 */
const PYTHON_OPERATORS = new Set(['==', '!=', '~', '+']);
const DICT_METHODS = new Set(['items', 'keys', 'values', 'get']);
/** Filters of texts, with the method of Python's `str` that each corresponds to. */
const TEXT_FILTERS: ReadonlyMap<string, string> = new Map([
  ['trim', 'strip'],
  ['capitalize', 'capitalize'],
  ['replace', 'replace'],
]);

/**
 * Prepares a parsed template: adds the expressions whose values are written to `printed`, and puts an `IterationStart`
 * at the beginning of each loop.
 */
export function prepareTemplate(node: Node, printed: WeakSet<Node>): void {
  const { body, alternate, defaultBlock } = node as BlockNode;
  for (const list of [body, alternate, defaultBlock]) {
    for (const statement of list ?? []) {
      if (STATEMENT_TYPES.has(statement.type)) prepareTemplate(statement, printed);
      else printed.add(statement);
    }
  }
  if (node.type === 'For') (node as LoopNode).body.unshift(new IterationStart(node as LoopNode));
}

/**
 * The library's interpreter, changed to Python's texts, dicts, comparison, loops and JSON. Values of nodes in `printed`
 * become the text that Python writes.
 */
export class PythonInterpreter extends Interpreter {
  readonly #printed: WeakSet<Node>;

  constructor(environment: Environment, printed: WeakSet<Node>) {
    super(environment);
    this.#printed = printed;
  }

  override evaluate(node: Node | undefined, environment: Environment): Value {
    if (!node) return templateValue(undefined);
    const value = this.#evaluate(node, environment);
    return this.#printed.has(node) ? templateValue(pythonText(value)) : value;
  }

  #evaluate(node: Node, environment: Environment): Value {
    if (node instanceof ValueNode) return node.value;
    if (node instanceof IterationStart) {
      for (const name of environment.variables.keys())
        if (!node.keptNames.has(name)) environment.variables.delete(name);
      return templateValue(null);
    }
    if (node instanceof LoopBody) return templateValue(this.#loopBody(node, environment));
    switch (node.type) {
      case 'If': {
        const { test, body, alternate } = node as IfNode;
        const isTrue = this.evaluate(test, environment).__bool__().value;
        return templateValue(this.#block(isTrue ? body : alternate, environment));
      }
      case 'Break':
      case 'Continue':
        throw new LeftIteration(node.type, '');
      case 'MemberExpression':
        return this.#member(node as MemberNode, environment);
      case 'FilterExpression':
        return this.#filter(node as FilterNode, environment);
      case 'BinaryExpression':
        return this.#binary(node as BinaryNode, environment);
      case 'Macro':
        return this.#macro(node as MacroNode, environment);
      case 'For':
        return this.#loop(node as LoopNode, environment);
    }
    return this.#library(node, environment);
  }

  /**
   * Evaluates a node with the library. The library looks only at `type`, so the node need not be an object of its
   * classes.
   */
  #library(node: Node, environment: Environment): Value {
    return super.evaluate(node, environment);
  }

  /**
   * Evaluates a member access. A name after a dot is first taken as an attribute, then as a key. Methods of texts are
   * Python's.
   */
  #member(node: MemberNode, environment: Environment): Value {
    const object = this.evaluate(node.object, environment);
    const { value } = object;
    const name = node.computed ? null : node.property.value;
    if (object.type === 'UndefinedValue')
      throw new Error(`${typeof name === 'string' ? name : 'a part'} of an undefined value`);
    const method = typeof value === 'string' && typeof name === 'string' ? TEXT_METHODS.get(name) : undefined;
    if (method && typeof value === 'string') {
      return templateValue((...args: readonly unknown[]) => method(value, args));
    }
    if (object.type === 'ObjectValue' && typeof name === 'string' && DICT_METHODS.has(name)) {
      return object.builtins.get(name) ?? templateValue(undefined);
    }
    const memberNode: MemberNode = { ...node, object: new ValueNode(object) };
    return this.#library(memberNode, environment);
  }

  #filter({ operand, ...node }: FilterNode, environment: Environment): Value {
    const value = this.evaluate(operand, environment);
    const name = node.filter.value ?? node.filter.callee?.value ?? '';
    const args = node.filter.args ?? [];
    if (name === 'tojson') return templateValue(pythonJson(value, this.#jsonStyle(args, environment)));
    if (name === 'join') return templateValue(this.#join(value, args, environment));
    if (name === 'string') return templateValue(pythonText(value));
    const method = TEXT_METHODS.get(TEXT_FILTERS.get(name) ?? '');
    if (method && !args.some(({ key }) => key)) {
      const argumentValues = args.map((arg) => this.evaluate(arg, environment).value);
      return templateValue(method(pythonText(value), argumentValues));
    }
    if (name === 'length' || name === 'count') {
      if (value.type === 'UndefinedValue') return templateValue(0);
      if (typeof value.value === 'string') return templateValue(Array.from(value.value).length);
    }
    const filterNode: FilterNode = { ...node, operand: new ValueNode(value) };
    return this.#library(filterNode, environment);
  }

  /** The text of the filter `join`, whose arguments are `d` and `attribute`. */
  #join(value: Value, args: readonly KeywordNode[], environment: Environment): string {
    const positional = args.filter(({ key }) => !key);
    const argument = (name: string, place: number) => {
      const node = args.find(({ key }) => key?.value === name)?.value ?? positional[place];
      return node && this.evaluate(node, environment);
    };
    const separator = argument('d', 0);
    const attribute = argument('attribute', 1);
    return pythonJoin(value, separator ? pythonText(separator) : '', attribute ?? null);
  }

  /** The style that the arguments of `tojson` describe. Throws unless all are keyword arguments. */
  #jsonStyle(args: readonly KeywordNode[], environment: Environment): JsonStyle {
    if (args.some(({ key }) => !key)) throw new Error('tojson takes keyword arguments only');
    return jsonStyle(new Map(args.map(({ key, value }) => [key?.value ?? '', this.evaluate(value, environment)])));
  }

  #binary(node: BinaryNode, environment: Environment): Value {
    const operator = node.operator.value;
    if (!PYTHON_OPERATORS.has(operator)) return this.#library(node, environment);
    const left = this.evaluate(node.left, environment);
    const right = this.evaluate(node.right, environment);
    if (operator === '~') return templateValue(pythonText(left) + pythonText(right));
    if (operator !== '+') return templateValue(pythonEquals(left, right) === (operator === '=='));
    if ((typeof left.value === 'string') !== (typeof right.value === 'string')) {
      throw new TypeError(`${left.type} and ${right.type} cannot be added`);
    }
    const addition: BinaryNode = { ...node, left: new ValueNode(left), right: new ValueNode(right) };
    return this.#library(addition, environment);
  }

  /**
   * Defines a macro. As in Python it sees the variables of the place where it is defined, and `caller`, but not those
   * of the calling place.
   */
  #macro(node: MacroNode, environment: Environment): Value {
    const result = this.#library(node, environment);
    const macro = environment.variables.get(node.name.value);
    const runMacro: unknown = macro?.value;
    if (macro && typeof runMacro === 'function') {
      macro.value = (args: Value[], callingScope: Environment) => {
        const scope = new Environment(environment);
        const caller = callingScope.variables.get('caller');
        if (caller) scope.setVariable('caller', caller);
        return (runMacro as (args: Value[], scope: Environment) => Value)(args, scope);
      };
    }
    return result;
  }

  /** Runs a loop. As in Python a loop over an undefined value has no iterations. */
  #loop(node: LoopNode, environment: Environment): Value {
    const { iterable } = node;
    const value = this.evaluate(iterable.lhs ?? iterable, environment);
    const entries = new ValueNode(value.type === 'UndefinedValue' ? templateValue([]) : value);
    const body = new LoopBody(node.body);
    const loop: LoopNode = {
      ...node,
      iterable: iterable.lhs ? { ...iterable, lhs: entries } : entries,
      body: [body],
      defaultBlock: [],
    };
    const text = this.#library(loop, environment);
    // as in Jinja, also if all iterations were left early
    const elseText = body.hasFinished ? '' : this.#block(node.defaultBlock, new Environment(environment));
    return templateValue(`${text.toString()}${body.textBeforeBreak}${elseText}`);
  }

  /** The text of one iteration. Throws what the library's loop ends at if the iteration breaks. */
  #loopBody(body: LoopBody, environment: Environment): string {
    try {
      const text = this.#block(body.statements, environment);
      body.hasFinished = true;
      return text;
    } catch (error) {
      if (!(error instanceof LeftIteration)) throw error;
      if (error.statement === 'Continue') return error.written;
      body.textBeforeBreak = error.written;
      this.#library({ type: 'Break' }, environment);
      throw error; // not reached
    }
  }

  /** The text that statements write. If one leaves the iteration, what those before it wrote goes with it. */
  #block(statements: readonly Node[], environment: Environment): string {
    let written = '';
    for (const statement of statements) {
      try {
        const value = this.evaluate(statement, environment);
        if (value.type !== 'NullValue' && value.type !== 'UndefinedValue') written += value.toString();
      } catch (error) {
        if (error instanceof LeftIteration) throw new LeftIteration(error.statement, written + error.written);
        throw error;
      }
    }
    return written;
  }
}
