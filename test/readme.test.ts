import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import {
  handoverTable,
  imitationTable,
  knobTable,
  learningTable,
  resultsTable,
  withTable,
} from '../scripts/readme.mjs';
import { pValueText } from '../src/base/inferenceWords.ts';
import { evaluationSetOf } from '../src/domain/evaluationSet.ts';
import { parseResults } from '../src/experiments/runResult.ts';
import { shippedTable } from '../src/experiments/resultTable.ts';
import { counterpartText, COUNTERPARTS } from '../src/handover/mapping.ts';
import { FIELD_DOCS } from '../src/config/fieldDocs.ts';
import { DEFAULTS, FIELDS } from '../src/config/fields.ts';
import { PRESET_CARDS } from '../src/config/presetCards.ts';

const readme = readFileSync('README.md', 'utf8');
const inFolder = (folder: string) =>
  readdirSync(folder).flatMap((name) => (name.endsWith('.md') ? [`${folder}/${name}`] : []));
const archive = inFolder('docs/journal/archive');
const journal = ['JOURNAL.md', ...inFolder('docs/journal'), ...archive];
const pages = ['README.md', 'CONTRIBUTING.md', ...inFolder('docs'), ...journal];

test('docs/knobs.md lists every knob as it is; when it does not: npm run readme', () => {
  const knobs = readFileSync('docs/knobs.md', 'utf8');
  expect(knobs).toBe(withTable(knobs, 'knobs', knobTable(FIELDS, FIELD_DOCS)));
  for (const name of Object.keys(FIELDS)) expect(knobs).toContain(`| \`${name}\` |`);
});

test('docs/hand-over.md says what becomes of every knob; when it does not: npm run readme', () => {
  const page = readFileSync('docs/hand-over.md', 'utf8');
  expect(page).toBe(withTable(page, 'hand-over', handoverTable(COUNTERPARTS, counterpartText)));
  for (const name of Object.keys(FIELDS)) expect(page).toContain(`| \`${name}\` |`);
});

const { results: learned } = parseResults(readFileSync('public/experiments/learning.jsonl', 'utf8'));
const learnedTable = learningTable(shippedTable('learning', learned), DEFAULTS, {
  evaluationSetOf,
  pValueText,
});

test('README and docs/results.md say what was learned as the shipped runs have it; when they do not: npm run readme', () => {
  const page = readFileSync('docs/results.md', 'utf8');
  expect(page).toBe(withTable(page, 'learning', learnedTable));
  const taught = parseResults(readFileSync('public/experiments/imitation.jsonl', 'utf8')).results;
  const taughtTable = imitationTable(shippedTable('imitation', taught));
  expect(page).toBe(withTable(page, 'imitation', taughtTable));
  // nine tasks under a head of two lines; by hand: FrozenLake's imitation is ahead on all eight seeds
  expect(taughtTable.trim().split('\n')).toHaveLength(11);
  expect(taughtTable).toContain('| `frozen-lake` | .19 | .68 / .66 | .81 / **.78** | .57 / **.56** | .70 / **.61** |');
  const short = resultsTable(shippedTable('learning', learned), PRESET_CARDS);
  expect(readme).toBe(withTable(readme, 'results', short));
  // worked by hand from public/experiments: eight seeds of Sokoban before, after, and after imitation
  expect(short).toMatch(/`sokoban`\) \| \.11 ± \.04 → \.79 ± \.05 \| \.88 ± \.01 \| \d+ \| 8 \|/);
  // a head of two lines, ten presets of which two are one result, and the end
  expect(learnedTable.split('\n')).toHaveLength(12);
});

test('a result is printed once: the bandits share their imitation, so they share a line, which claims nothing at p .13', () => {
  const lines = learnedTable.split('\n').filter((line) => line.includes('bandit'));
  expect(lines).toHaveLength(1);
  expect(lines[0]).toMatch(/^\| `bandit` · `bandit-reversed` \|.*\+\.16 \[\+\.00, \+\.31\], p = \.13: cannot tell \|/);
  expect(lines[0]).not.toContain('**');
});

test('bold in docs/results.md is what ten comparisons leave: the exact sign test over seeds, corrected for their number', () => {
  const { rows } = shippedTable('learning', learned);
  const compared = rows.flatMap(({ arm, difference }) => (difference ? [{ name: arm.key, ...difference }] : []));
  expect(compared).toHaveLength(10);
  expect(readFileSync('docs/results.md', 'utf8')).toMatch(/[Tt]en comparisons/);
  const bold = learnedTable.split('\n').flatMap((line) => (line.includes('**') ? [/`([\w-]+)`/.exec(line)?.[1]] : []));
  // by hand: eight of eight is p = 2 · ½⁸ = .0078, seven of eight .070; five of ten at .0078 are .0156 corrected
  expect(bold).toEqual(['number-hunt', 'multi-hop', 'world-facts', 'calculator', 'sokoban']);
  for (const { name, corrected } of compared) expect(corrected < 0.05, name).toBe(bold.includes(name));
});

const forms = readdirSync('.github', { recursive: true, encoding: 'utf8' }).flatMap((name) =>
  /\.(md|ya?ml)$/.test(name) ? [`.github/${name}`] : [],
);

test.each(['CONTRIBUTING.md', 'docs/structure.md', 'docs/environments.md'])(
  'every file that %s names exists',
  (page) => {
    const named = Array.from(
      readFileSync(page, 'utf8').matchAll(/`((?:src|test|docs|tools|scripts|public|\.github)\/[\w./-]+)`/g),
      ([, name = '']) => name,
    );
    expect(named.length).toBeGreaterThan(0);
    expect(named.filter((name) => !name.includes('NAME') && !existsSync(name))).toEqual([]);
  },
);

test('CI tries the oldest Node that package.json allows', () => {
  const { engines } = JSON.parse(readFileSync('package.json', 'utf8')) as { engines: { node: string } };
  const tried = /node: \[(.*)\]/.exec(readFileSync('.github/workflows/ci.yml', 'utf8'))?.[1]?.split(', ') ?? [];
  expect(tried[0]).toBe(/\d+/.exec(engines.node)?.[0]);
  expect(tried.length).toBeGreaterThan(1);
});

test.each([...pages, ...forms])('%s names only commands that exist, and links only to what is there', (page) => {
  const { scripts } = JSON.parse(readFileSync('package.json', 'utf8')) as { scripts: Record<string, string> };
  const text = readFileSync(page, 'utf8');
  const named = Array.from(text.matchAll(/\bnpm run ([\w:]+)/g), (match) => match[1] ?? '');
  expect(named.filter((name) => !(name in scripts))).toEqual([]);
  const links = Array.from(text.matchAll(/\]\((?!https?:)([^)]+)\)/g), (match) => match[1] ?? '');
  const headings = (file: string) =>
    Array.from(readFileSync(file, 'utf8').matchAll(/^#+ (.+)$/gm), ([, title = '']) =>
      title
        .toLowerCase()
        .replaceAll(' ', '-')
        .replace(/[^\p{L}\p{N}-]/gu, ''),
    );
  const dead = links.filter((link) => {
    const [file = '', heading] = link.split('#');
    const target = file === '' ? page : path.join(path.dirname(page), file);
    return !existsSync(target) || (heading !== undefined && !headings(target).includes(heading));
  });
  expect(dead).toEqual([]);
});

test('the README leads to every page, and names commands', () => {
  for (const command of ['npm start', 'npm test']) expect(readme).toContain(command);
  const linked = new Set(
    pages.flatMap((from) =>
      Array.from(readFileSync(from, 'utf8').matchAll(/\]\(([^)#]+)/g), ([, to = '']) =>
        path.join(path.dirname(from), to),
      ),
    ),
  );
  const unlinked = pages.filter((page) => page !== 'README.md' && !linked.has(page));
  expect(unlinked).toEqual([]);
});

test('the handbook lists every page of docs, and the README leads to the handbook', () => {
  const contents = readFileSync('docs/README.md', 'utf8');
  const listed = Array.from(contents.matchAll(/\]\(([^)#]+)/g), ([, to = '']) => path.join('docs', to));
  const unlisted = inFolder('docs').filter((page) => page !== 'docs/README.md' && !listed.includes(page));
  expect(unlisted).toEqual([]);
  expect(readme).toContain('](docs/README.md)');
});

test('journal pages run from the newest section to the oldest', () => {
  for (const page of journal.slice(1)) {
    const sections = readFileSync(page, 'utf8').match(/^## .+/gm) ?? [];
    const dates = sections.map((section) => /^## (\d{4}-\d\d-\d\d) /.exec(section)?.[1] ?? '');
    // sections by topic, which only the short pages have, follow those with a date
    expect(dates, page).toEqual([...dates].sort().reverse());
    expect(dates.length).toBeGreaterThan(5);
    if (archive.includes(page)) expect(dates, page).not.toContain('');
  }
});
