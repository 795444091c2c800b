import { Environment, Interpreter } from '@huggingface/jinja';
import { type JsonStyle, jsonStyle, pythonEquals, pythonJson, pythonText, type Value } from './pythonValues.ts';
import type { JinjaBudget } from './jinjaBudget.ts';
import { TEXT_METHODS } from './pythonTextMethods.ts';

/** A part of a parsed template. */
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
interface LoopNode extends Node {
  readonly iterable: Node & { readonly lhs?: Node };
  readonly loopvar: { readonly value: string | readonly { readonly value: string }[] };
  readonly body: Node[];
}

/** A value where the library wants a part of a template. */
class Held implements Node {
  readonly type = 'Held';
  readonly value: Value;
  constructor(value: Value) {
    this.value = value;
  }
}

/** The beginning of each round of a loop: what the last one set is gone. */
class Round implements Node {
  readonly type = 'Round';
  readonly kept: ReadonlySet<string>;
  constructor({ loopvar: { value } }: LoopNode) {
    const names = typeof value === 'string' ? [value] : value.map((name) => name.value);
    this.kept = new Set(['loop', 'namespace', ...names]);
  }
}

const STATEMENTS = new Set([
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
/** What is not as in Python: comparison is loose, a text and a number have a sum, values are written as JavaScript writes them. */
const OPERATORS = new Set(['==', '!=', '~', '+']);
const SEARCHES = new Set(['in', 'not in']);
const DICT_METHODS = new Set(['items', 'keys', 'values', 'get']);
/** Filters of texts that are methods of Python's `str`. */
const TEXT_FILTERS: ReadonlyMap<string, string> = new Map([
  ['trim', 'strip'],
  ['capitalize', 'capitalize'],
  ['replace', 'replace'],
]);

/** A value of a template from one of JavaScript; a function is given the plain values of its arguments. */
const valueOf = (value: unknown): Value => new Environment().set('value', value);

/** Adds the expressions of a parsed template that are written to `printed`, and lets each loop begin its rounds again. */
export function prepare(node: Node, printed: WeakSet<Node>): void {
  const { body, alternate, defaultBlock } = node as BlockNode;
  for (const list of [body, alternate, defaultBlock]) {
    for (const part of list ?? []) {
      if (STATEMENTS.has(part.type)) prepare(part, printed);
      else printed.add(part);
    }
  }
  if (node.type === 'For') (node as LoopNode).body.unshift(new Round(node as LoopNode));
}

/** The library's interpreter with Python's texts, dicts, comparison, loops and JSON; what is in `printed` is written. */
export class PythonInterpreter extends Interpreter {
  readonly #printed: WeakSet<Node>;
  readonly #budget: JinjaBudget;

  constructor(environment: Environment, printed: WeakSet<Node>, budget: JinjaBudget) {
    super(environment);
    this.#printed = printed;
    this.#budget = budget;
  }

  override evaluate(node: Node | undefined, environment: Environment): Value {
    if (!node) return valueOf(undefined);
    this.#budget.enter();
    let value: Value;
    try {
      value = this.#evaluate(node, environment);
    } finally {
      this.#budget.leave(); // breaks of a loop are thrown
    }
    this.#budget.hold(value);
    return this.#printed.has(node) ? valueOf(pythonText(value, this.#budget.spend)) : value;
  }

  #evaluate(node: Node, environment: Environment): Value {
    if (node instanceof Held) return node.value;
    if (node instanceof Round) {
      for (const name of environment.variables.keys()) if (!node.kept.has(name)) environment.variables.delete(name);
      return valueOf(null);
    }
    switch (node.type) {
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

  /** What the library makes of a part. It tells parts by `type`, so one that is no object of its classes will do. */
  #library(node: Node, environment: Environment): Value {
    return super.evaluate(node, environment);
  }

  /** A name after a dot is an attribute before it is a key; methods of texts are Python's. */
  #member(node: MemberNode, environment: Environment): Value {
    const object = this.evaluate(node.object, environment);
    const { value } = object;
    const name = node.computed ? null : node.property.value;
    if (object.type === 'UndefinedValue')
      throw new Error(`${typeof name === 'string' ? name : 'a part'} of what is not defined`);
    const method = typeof value === 'string' && typeof name === 'string' ? TEXT_METHODS.get(name) : undefined;
    if (method && typeof value === 'string') {
      return valueOf((...args: readonly unknown[]) => {
        this.#budget.search(value.length, typeof args[0] === 'string' ? args[0].length : 1);
        const made = method(value, args);
        if (Array.isArray(made)) this.#budget.made(made.length);
        return made;
      });
    }
    if (object.type === 'ObjectValue' && typeof name === 'string' && DICT_METHODS.has(name)) {
      return object.builtins.get(name) ?? valueOf(undefined);
    }
    const held: MemberNode = { ...node, object: new Held(object) };
    return this.#library(held, environment);
  }

  #filter({ operand, ...node }: FilterNode, environment: Environment): Value {
    const value = this.evaluate(operand, environment);
    const name = node.filter.value ?? node.filter.callee?.value ?? '';
    const args = node.filter.args ?? [];
    const { spend } = this.#budget;
    if (name === 'tojson') return valueOf(pythonJson(value, this.#jsonStyle(args, environment), spend));
    if (name === 'string') return valueOf(pythonText(value, spend));
    const method = TEXT_METHODS.get(TEXT_FILTERS.get(name) ?? '');
    if (method && !args.some(({ key }) => key)) {
      const letters = args.map((arg) => this.evaluate(arg, environment).value);
      const text = pythonText(value, spend);
      this.#budget.search(text.length, typeof letters[0] === 'string' ? letters[0].length : 1);
      return valueOf(method(text, letters));
    }
    if (name === 'length' || name === 'count') {
      if (value.type === 'UndefinedValue') return valueOf(0);
      if (typeof value.value === 'string') return valueOf(Array.from(value.value).length);
    } else this.#grown(name, value, args, environment);
    const held: FilterNode = { ...node, operand: new Held(value) };
    return this.#library(held, environment);
  }

  /** Counts what a filter of the library goes through and makes, before it does. */
  #grown(name: string, value: Value, args: readonly KeywordNode[], environment: Environment): void {
    const letters = this.#budget.through(value);
    if (name !== 'join' && name !== 'indent') return;
    const given = args.map((arg) => this.evaluate(arg.key ? arg.value : arg, environment).value);
    const width = Math.max(4, ...given.map((each) => (typeof each === 'string' ? each.length : Number(each)))) || 0;
    const { value: own } = value;
    const places = Array.isArray(own) ? own.length : typeof own === 'string' ? own.split('\n').length : 0;
    this.#budget.text(letters + places * width);
  }

  /** The arguments of `tojson`, which are given by name. */
  #jsonStyle(args: readonly KeywordNode[], environment: Environment): JsonStyle {
    if (args.some(({ key }) => !key)) throw new Error('tojson: arguments are given by name');
    return jsonStyle(new Map(args.map(({ key, value }) => [key?.value ?? '', this.evaluate(value, environment)])));
  }

  #binary(node: BinaryNode, environment: Environment): Value {
    const operator = node.operator.value;
    if (!OPERATORS.has(operator) && !SEARCHES.has(operator)) return this.#library(node, environment);
    const left = this.evaluate(node.left, environment);
    const right = this.evaluate(node.right, environment);
    const { spend } = this.#budget;
    if (SEARCHES.has(operator)) {
      const [sought, text] = [left.value, right.value];
      if (typeof sought === 'string' && typeof text === 'string') this.#budget.search(text.length, sought.length);
      const search: BinaryNode = { ...node, left: new Held(left), right: new Held(right) };
      return this.#library(search, environment);
    }
    if (operator === '~') return valueOf(pythonText(left, spend) + pythonText(right, spend));
    if (operator !== '+') return valueOf(pythonEquals(left, right, spend) === (operator === '=='));
    if ((typeof left.value === 'string') !== (typeof right.value === 'string')) {
      throw new TypeError(`${left.type} and ${right.type} have no sum`);
    }
    const sum: BinaryNode = { ...node, left: new Held(left), right: new Held(right) };
    return this.#library(sum, environment);
  }

  /** A macro sees the names of where it is written, not of where it is called; and who called it. */
  #macro(node: MacroNode, environment: Environment): Value {
    const nothing = this.#library(node, environment);
    const macro = environment.variables.get(node.name.value);
    const run: unknown = macro?.value;
    if (macro && typeof run === 'function') {
      macro.value = (args: Value[], from: Environment) => {
        const scope = new Environment(environment);
        const caller = from.variables.get('caller');
        if (caller) scope.setVariable('caller', caller);
        return (run as (args: Value[], scope: Environment) => Value)(args, scope);
      };
    }
    return nothing;
  }

  /** What is not defined has no rounds. */
  #loop(node: LoopNode, environment: Environment): Value {
    const { iterable } = node;
    const value = this.evaluate(iterable.lhs ?? iterable, environment);
    const held = new Held(value.type === 'UndefinedValue' ? valueOf([]) : value);
    const { value: rounds } = held.value;
    this.#budget.rounds(Array.isArray(rounds) ? rounds.length : rounds instanceof Map ? rounds.size : 0);
    const loop: LoopNode = { ...node, iterable: iterable.lhs ? { ...iterable, lhs: held } : held };
    return this.#library(loop, environment);
  }
}
