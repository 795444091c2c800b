import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { readFlags } from '../tools/flags.mjs';

/** A script's own first lines of comment: what `--help` prints. @param {string} url import.meta.url of the script */
function usageOf(url) {
  const lines = readFileSync(fileURLToPath(url), 'utf8').split('\n');
  const end = lines.findIndex((line) => !line.startsWith('//'));
  const said = lines.slice(0, end).map((line) => line.slice(3));
  return said.join('\n');
}

/** Prints a script's usage and ends where help is asked for. @param {string} url import.meta.url of the script */
export function helpIfAsked(url) {
  const args = process.argv.slice(2);
  if (!args.includes('--help') && !args.includes('-h')) return;
  console.log(usageOf(url));
  process.exit(0);
}

/**
 * The flags that a script was started with. Prints its usage and ends where help is asked for; prints what is wrong with them and ends with 2.
 * @template {Readonly<Record<string, import('../tools/flags.mjs').Takes>>} F
 * @param {string} url import.meta.url of the script @param {F} flags @param {number} [words] other arguments there may be
 */
export function scriptFlags(url, flags, words = 0) {
  helpIfAsked(url);
  const read = readFlags(process.argv.slice(2), flags, { words });
  if (read.problems.length > 0) {
    const told = read.problems.map(({ what, remedy }) => (remedy === undefined ? what : `${what} ${remedy}`));
    console.error([...told, usageOf(url)].join('\n'));
    process.exit(2);
  }
  return read;
}
