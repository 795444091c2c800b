// Arguments of the commands beside a checkpoint.
import { existsSync } from 'node:fs';
import path from 'node:path';
import { scriptFlags } from '../../scripts/usage.mjs';

/**
 * Reads `--name value` over what stands where nothing is said; `--help` prints the script's first comment. Ends the program on what is no option.
 * @template {Record<string, string | number>} D
 * @param {string} url import.meta.url of the script @param {D} defaults
 * @returns {{ [K in keyof D]: D[K] extends number ? number : string }}
 */
export function read(url, defaults) {
  const flags = Object.fromEntries(Object.keys(defaults).map((name) => [name, /** @type {const} */ ('value')]));
  const given = Object.entries(scriptFlags(url, flags).given).map(([name, value]) => {
    const number = typeof defaults[name] === 'number';
    if (number && !(Number(value) >= 0)) refuse(`--${name} can’t be ${value}. Use a number.`);
    return [name, number ? Number(value) : value];
  });
  return /** @type {any} */ ({ ...defaults, ...Object.fromEntries(given) });
}

/** The file named by --model, whole. @param {string} model */
export function modelFile(model) {
  if (model === '') refuse('--model is missing. Name SmolLM2-135M-Instruct as a GGUF file.');
  const file = path.resolve(process.env['INIT_CWD'] ?? '.', model);
  if (!existsSync(file)) refuse(`--model can’t be ${model}. Use a file that is there.`);
  return file;
}

/** @param {string} why @returns {never} */
export function refuse(why) {
  console.error(`bench: ${why}`);
  process.exit(2);
}
