import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { withKnobs } from '../scripts/readme-knobs.mjs';
import { FIELD_DOCS } from '../src/fieldDocs.ts';
import { FIELDS } from '../src/fields.ts';

const readme = readFileSync('README.md', 'utf8');

test('README lists every knob as it is; when it does not: npm run readme', () => {
  expect(readme).toBe(withKnobs(readme, FIELDS, FIELD_DOCS));
  for (const name of Object.keys(FIELDS)) expect(readme).toContain(`| \`${name}\` |`);
});

test('README names only commands that exist', () => {
  const { scripts } = JSON.parse(readFileSync('package.json', 'utf8')) as { scripts: Record<string, string> };
  const named = Array.from(readme.matchAll(/\bnpm run ([\w:]+)/g), (match) => match[1] ?? '');
  expect(named.length).toBeGreaterThan(3);
  expect(named.filter((name) => !(name in scripts))).toEqual([]);
});
