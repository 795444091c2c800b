// npm run readme: writes the README's table of knobs from src/fields.ts and src/fieldDocs.ts. test/readme.test.ts fails when it is out of date.
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const BEGIN = '<!-- knobs: written by `npm run readme` -->\n\n<!-- prettier-ignore-start -->\n\n';
const END = '\n<!-- prettier-ignore-end -->\n';

const EFFECT = { live: 'next step', next: 'next batch', restart: 'restart' };

/** @param {import('../src/fields.ts').Field} field */
function accepts(field) {
  if ('choices' in field) return field.choices.map((choice) => `\`${choice}\``).join(' ');
  return `${field.min} … ${field.max}${field.integer ? '' : ', fractions too'}`;
}

/**
 * @param {Readonly<Record<string, import('../src/fields.ts').Field>>} fields
 * @param {Readonly<Record<string, string>>} docs what each means
 * @returns {string}
 */
export function knobTable(fields, docs) {
  const cell = (/** @type {string} */ text) => text.replaceAll('|', '\\|');
  const rows = Object.entries(fields).map(
    ([name, field]) =>
      `| \`${name}\` | ${cell(field.label)} | \`${field.default}\` | ${accepts(field)} | ${EFFECT[field.when]} | ${cell(docs[name] ?? '')} |\n`,
  );
  const head = '| name | label | default | accepts | takes effect | meaning |\n| --- | --- | --- | --- | --- | --- |\n';
  return head + rows.join('');
}

/**
 * The README with its table replaced.
 * @param {string} readme
 * @param {Readonly<Record<string, import('../src/fields.ts').Field>>} fields
 * @param {Readonly<Record<string, string>>} docs what each means
 */
export function withKnobs(readme, fields, docs) {
  const begin = readme.indexOf(BEGIN);
  const end = readme.indexOf(END, begin);
  if (begin < 0 || end < 0) throw new Error(`README.md: want the lines\n${BEGIN}${END}around the table of knobs.`);
  return readme.slice(0, begin) + BEGIN + knobTable(fields, docs) + readme.slice(end);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
  const file = path.join(root, 'README.md');
  const { runnerImport } = await import('vite'); // Node 20 cannot read TypeScript
  const load = async (/** @type {string} */ name) =>
    (await runnerImport(path.join(root, 'src', name), { root, configFile: false })).module;
  const { FIELDS } = /** @type {typeof import('../src/fields.ts')} */ (await load('fields.ts'));
  const { FIELD_DOCS } = /** @type {typeof import('../src/fieldDocs.ts')} */ (await load('fieldDocs.ts'));
  writeFileSync(file, withKnobs(readFileSync(file, 'utf8'), FIELDS, FIELD_DOCS));
}
