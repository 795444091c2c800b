import { Environment, parse, tokenize } from '@huggingface/jinja';
import { type Node, prepareTemplate, PythonInterpreter } from './pythonInterpreter.ts';
import { pythonText } from './pythonValues.ts';

/**
 * Parses a Jinja template so that it runs as in Transformers, which is Python. A library parses and runs it; this
 * project's code replaces the parts of the library that differ from Python. Returns a function that renders the
 * template with given variables. The function throws if the template raises an exception. Throws if the source is not
 * Jinja. Both can take arbitrarily long, so only a worker that can be ended may run a template of an unknown file.
 */
export function jinja(source: string): (variables: Readonly<Record<string, unknown>>) => string {
  const normalizedSource = source.replaceAll(/\r\n?/g, '\n'); // Jinja reads every line ending as \n
  const program = parse(tokenize(normalizedSource, { lstrip_blocks: true, trim_blocks: true }));
  const printedNodes = new WeakSet<Node>(); // nodes whose values are written to the output
  prepareTemplate(program, printedNodes);
  return (variables) => {
    const environment = new Environment();
    for (const [name, value] of Object.entries({ ...GLOBALS, ...variables })) environment.set(name, value);
    return pythonText(new PythonInterpreter(environment, printedNodes).run(program));
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
