import { Environment, parse, tokenize } from '@huggingface/jinja';
import { JinjaBudget } from './jinjaBudget.ts';
import { type Node, prepare, PythonInterpreter } from './pythonInterpreter.ts';
import { pythonText } from './pythonValues.ts';

/**
 * A template of Jinja, as Transformers runs it in Python: the library parses and runs it, and where it differs from Python, what is here
 * does. Returns what writes it with given variables, which throws where the template raises or takes more than a `JinjaBudget`. Throws where it is not Jinja.
 */
export function jinja(source: string): (variables: Readonly<Record<string, unknown>>) => string {
  // the library takes the square of the time for a run of blanks
  if (/\s{1000}/.test(source)) throw new RangeError('a run of 1000 blanks');
  const lines = source.replaceAll(/\r\n?/g, '\n'); // Jinja reads every line ending as \n
  const program = parse(tokenize(lines, { lstrip_blocks: true, trim_blocks: true }));
  const printed = new WeakSet<Node>(); // parts whose values are written
  prepare(program, printed);
  return (variables) => {
    const environment = new Environment();
    for (const [name, value] of Object.entries({ ...GLOBALS, ...variables })) environment.set(name, value);
    const budget = new JinjaBudget();
    return pythonText(new PythonInterpreter(environment, printed, budget).run(program), budget.spend);
  };
}

const MOST_RANGE = 100_000;

const GLOBALS: Readonly<Record<string, unknown>> = {
  ...{ true: true, True: true, false: false, False: false, none: null, None: null },
  raise_exception: (message: unknown) => {
    throw new Error(String(message));
  },
  range: (first: number, end?: number, step = 1) => {
    if (step === 0) throw new Error('range: a step of 0');
    const [begin, stop] = end === undefined ? [0, first] : [first, end];
    const length = Math.max(0, Math.ceil((stop - begin) / step));
    // the bound of Jinja's sandbox, which Transformers runs templates in
    if (!(length <= MOST_RANGE)) throw new RangeError(`range: over ${MOST_RANGE} numbers`);
    return Array.from({ length }, (_, i) => begin + i * step);
  },
};
