import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { knobTable, learningTable, withTable } from '../scripts/readme.mjs';
import { evaluatedIn } from '../src/evaluated.ts';
import { parseResults } from '../src/experiments/result.ts';
import { shippedTable } from '../src/experiments/table.ts';
import { FIELD_DOCS } from '../src/fieldDocs.ts';
import { DEFAULTS, FIELDS } from '../src/fields.ts';

const readme = readFileSync('README.md', 'utf8');

test('README lists every knob as it is; when it does not: npm run readme', () => {
  expect(readme).toBe(withTable(readme, 'knobs', knobTable(FIELDS, FIELD_DOCS)));
  for (const name of Object.keys(FIELDS)) expect(readme).toContain(`| \`${name}\` |`);
});

test('README says what was learned as the shipped runs have it; when it does not: npm run readme', () => {
  const { results } = parseResults(readFileSync('public/experiments/learning.jsonl', 'utf8'));
  const table = learningTable(shippedTable('learning', results), DEFAULTS, evaluatedIn);
  expect(readme).toBe(withTable(readme, 'learning', table));
  expect(table.split('\n')).toHaveLength(13); // a head of two lines, ten presets, and the end
});

test('README names only commands that exist', () => {
  const { scripts } = JSON.parse(readFileSync('package.json', 'utf8')) as { scripts: Record<string, string> };
  const named = Array.from(readme.matchAll(/\bnpm run ([\w:]+)/g), (match) => match[1] ?? '');
  expect(named.length).toBeGreaterThan(3);
  expect(named.filter((name) => !(name in scripts))).toEqual([]);
});
