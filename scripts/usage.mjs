import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** A script's own first lines of comment: what `--help` prints. @param {string} url import.meta.url of the script */
export function usageOf(url) {
  const lines = readFileSync(fileURLToPath(url), 'utf8').split('\n');
  const end = lines.findIndex((line) => !line.startsWith('//'));
  const said = lines.slice(0, end).map((line) => line.slice(3));
  return said.join('\n');
}

/** Whether help is asked for. @param {readonly string[]} args */
export function asksForHelp(args) {
  return args.includes('--help') || args.includes('-h');
}
