// Arguments of the commands beside a checkpoint.
import { existsSync } from 'node:fs';
import path from 'node:path';
import { asksForHelp, usageOf } from '../../scripts/usage.mjs';

/**
 * Reads `--name value` over what stands where nothing is said; `--help` prints the script's first comment. Ends the program on what is no option.
 * @template {Record<string, string | number>} D
 * @param {string} url import.meta.url of the script @param {D} defaults
 * @returns {{ [K in keyof D]: D[K] extends number ? number : string }}
 */
export function read(url, defaults) {
  const args = process.argv.slice(2);
  if (asksForHelp(args)) {
    console.log(usageOf(url));
    process.exit(0);
  }
  /** @type {Record<string, string | number>} */
  const given = { ...defaults };
  for (let i = 0; i < args.length; i += 2) {
    const name = (args[i] ?? '').replace(/^--/, '');
    const value = args[i + 1];
    if (!Object.hasOwn(defaults, name) || value === undefined) {
      refuse(
        `got ${args[i] ?? ''}; want ${Object.keys(defaults)
          .map((each) => `--${each}`)
          .join(', ')}, each with a value.`,
      );
    }
    const number = typeof defaults[name] === 'number';
    if (number && !(Number(value) >= 0)) refuse(`--${name} got ${value}; want a number.`);
    given[name] = number ? Number(value) : value;
  }
  return /** @type {any} */ (given);
}

/** The file named by --model, whole. @param {string} model */
export function modelFile(model) {
  if (model === '') refuse('--model got nothing; want SmolLM2-135M-Instruct as a GGUF file.');
  const file = path.resolve(process.env['INIT_CWD'] ?? '.', model);
  if (!existsSync(file)) refuse(`--model got ${model}; want a file that is there.`);
  return file;
}

/** @param {string} why @returns {never} */
export function refuse(why) {
  console.error(`bench: ${why}`);
  process.exit(2);
}
