import { readdirSync, readFileSync } from 'node:fs';

const FOLDER = 'public/environments';

/** The environments that ship, to start one's own from: name and text. */
export const TEMPLATES: readonly (readonly [name: string, source: string])[] = readdirSync(FOLDER)
  .filter((file) => file.endsWith('.ts') && !file.endsWith('.d.ts'))
  .map((file) => [file, readFileSync(`${FOLDER}/${file}`, 'utf8')]);
