import { Environment, parse, tokenize } from '@huggingface/jinja';
import { JinjaBudget } from './jinjaBudget.ts';
import { type Node, prepareTemplate, PythonInterpreter } from './pythonInterpreter.ts';
import { pythonText } from './pythonValues.ts';

/**
 * Parses a Jinja template so that it runs as in Transformers, which is Python. A library parses and runs it; this
 * project's code replaces the parts of the library that differ from Python. Returns a function that renders the
 * template with given variables. The function throws if the template raises an exception or exceeds its `JinjaBudget`.
 * Throws if the source is not Jinja.
 */
export function jinja(source: string): (variables: Readonly<Record<string, unknown>>) => string {
  // the library takes quadratic time for a run of white space
  if (/\s{1000}/.test(source)) throw new RangeError('1000 white-space characters in a row');
  const normalizedSource = source.replaceAll(/\r\n?/g, '\n'); // Jinja reads every line ending as \n
  const program = parse(tokenize(normalizedSource, { lstrip_blocks: true, trim_blocks: true }));
  const printedNodes = new WeakSet<Node>(); // nodes whose values are written to the output
  prepareTemplate(program, printedNodes);
  return (variables) => {
    const environment = new Environment();
    for (const [name, value] of Object.entries({ ...GLOBALS, ...variables })) environment.set(name, value);
    const budget = new JinjaBudget();
    return pythonText(new PythonInterpreter(environment, printedNodes, budget).run(program), budget.spend);
  };
}

const MAX_RANGE = 100_000; // numbers

const GLOBALS: Readonly<Record<string, unknown>> = {
  ...{ true: true, True: true, false: false, False: false, none: null, None: null },
  raise_exception: (message: unknown) => {
    throw new Error(String(message));
  },
  range: (first: number, end?: number, step = 1) => {
    if (step === 0) throw new Error('range: a step of 0');
    const [begin, stop] = end === undefined ? [0, first] : [first, end];
    const length = Math.max(0, Math.ceil((stop - begin) / step));
    // the limit of Jinja's sandbox, in which Transformers runs templates
    if (!(length <= MAX_RANGE)) throw new RangeError(`range: over ${MAX_RANGE} numbers`);
    return Array.from({ length }, (_, i) => begin + i * step);
  },
};
