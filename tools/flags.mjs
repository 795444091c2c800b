// Flags of every command: of src/cli, scripts and bench. Node's parseArgs reads them; what is wrong is said all at once.
import { parseArgs } from 'node:util';
import { closestMatch } from 'leven';

/** What a flag takes: a value, a value each time it is given, or nothing. @typedef {'value' | 'values' | 'switch'} Takes */

/** What is wrong with a flag, and what to do about it, in sentences. @typedef {{ what: string, remedy?: string }} FlagProblem */

/**
 * The flags that were given.
 * @template {Readonly<Record<string, Takes>>} F
 * @typedef {{ [K in keyof F]?: F[K] extends 'switch' ? true : F[K] extends 'values' ? string[] : string }} Given
 */

/**
 * Reads flags. An unknown one is a problem that names the nearest there is; so is a missing value. `positionals` are the other arguments,
 * without those after an unknown flag, which may be its value; more of them than `words` are a problem. `rest` are all arguments that are
 * no known flag, as another program takes them. `have` are the flags in words, where they are too many to list.
 * @template {Readonly<Record<string, Takes>>} F
 * @param {readonly string[]} args
 * @param {F} flags
 * @param {{ words?: number, have?: string }} [how]
 * @returns {{ given: Given<F>, positionals: string[], rest: string[], problems: FlagProblem[] }}
 */
export function readFlags(args, flags, { words = Infinity, have = namesOf(flags) } = {}) {
  const options = Object.fromEntries(
    Object.entries(flags).map(([name, takes]) => [
      name,
      { type: /** @type {'boolean' | 'string'} */ (takes === 'switch' ? 'boolean' : 'string') },
    ]),
  );
  const valued = (/** @type {string} */ arg) => options[arg.slice(2)]?.type === 'string' && arg.startsWith('--');
  // a flag is no value: `--out --json` has a flag without a value, and another
  const split = args.map((arg, i) => (valued(arg) && (args[i + 1] ?? '--').startsWith('--') ? `${arg}=` : arg));
  const { tokens } = parseArgs({ args: split, options, strict: false, allowPositionals: true, tokens: true });
  /** @type {Record<string, true | string | string[]>} */
  const given = {};
  const [positionals, rest, problems] = /** @type {[string[], string[], FlagProblem[]]} */ ([[], [], []]);
  const unknown = (/** @type {string} */ arg, meant = '') =>
    problems.push({ what: `${seen(arg)}: no such flag.`, remedy: `${meant}Have ${have}.` });
  let last = -1; // unknown flag
  for (const token of tokens) {
    const arg = args[token.index] ?? '';
    if (token.kind !== 'option') {
      rest.push(arg);
      if (token.kind !== 'positional' || (last >= 0 && token.index === last + 1)) continue;
      if (positionals.push(arg) > words) unknown(arg);
      continue;
    }
    const { name, value } = token;
    const flag = `--${name}`;
    const takes = Object.hasOwn(flags, name) && arg.startsWith('--') ? flags[name] : undefined;
    if (takes === undefined) {
      if (token.index === last) continue; // `-abc` is three
      last = token.index;
      rest.push(arg);
      unknown(arg, nearest(name, Object.keys(flags)));
    } else if (takes === 'switch') {
      if (value === undefined) given[name] = true;
      else problems.push({ what: `${flag} takes no value, but has ${seen(value)}.` });
    } else if (value === undefined || (value === '' && token.inlineValue)) {
      problems.push({ what: `${flag} needs a value.` });
    } else {
      const before = given[name];
      given[name] = takes === 'value' ? value : [...(Array.isArray(before) ? before : []), value];
    }
  }
  return { given: /** @type {any} */ (given), positionals, rest, problems };
}

/** Flags as they are written, in a row. @param {Readonly<Record<string, Takes>>} flags */
function namesOf(flags) {
  const names = Object.keys(flags).map((name) => `--${name}`);
  return names.length > 0 ? names.join(', ') : 'none';
}

/** @param {string} name @param {readonly string[]} names */
function nearest(name, names) {
  const found = closestMatch(name, names, { maxDistance: Math.max(1, Math.floor(name.length / 3)) });
  return found === undefined ? '' : `Did you mean --${found}? `;
}

/** A text without characters that a terminal would act on. @param {string} text */
const seen = (text) => text.replace(/\p{C}/gu, '�');
