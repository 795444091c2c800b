// npm run mutation [-- FILE …]: how many small changes of a source file its unit tests notice. A file takes minutes.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { MUTATION_TESTS } from '../tools/mutationTests.mjs';
import { asksForHelp, usageOf } from './usage.mjs';

const FOLDER = 'test-results/mutation';
const SUMMARY = `${FOLDER}/summary.json`;

const asked = process.argv.slice(2);
if (asksForHelp(asked)) {
  console.log(usageOf(import.meta.url));
  process.exit(0);
}
const unknown = asked.filter((file) => !(file in MUTATION_TESTS));
if (unknown.length > 0) {
  console.error(`got ${unknown.join(', ')}; want files that tools/mutationTests.mjs names, or none for all of them.`);
  process.exit(1);
}

mkdirSync(FOLDER, { recursive: true });
/** @type {Record<string, { score: number } & Record<string, unknown>>} */
const summary = existsSync(SUMMARY) ? JSON.parse(readFileSync(SUMMARY, 'utf8')) : {};
for (const file of asked.length > 0 ? asked : Object.keys(MUTATION_TESTS)) {
  const tests = (MUTATION_TESTS[file] ?? []).map((name) => `test/${name}.test.ts`).filter((test) => existsSync(test));
  const { status } = spawnSync('npx', ['stryker', 'run', 'tools/stryker.json', '--mutate', file], {
    stdio: ['ignore', 'inherit', 'inherit'],
    env: { ...process.env, MUTATION_TESTS: tests.join(',') },
  });
  if (status !== 0) process.exit(status ?? 1);
  summary[file] = { ...counted(file), tests };
  writeFileSync(SUMMARY, `${JSON.stringify(summary, null, 1)}\n`);
}
for (const [file, { score }] of Object.entries(summary)) console.log(`${String(score).padStart(6)} %  ${file}`);
console.log(`Survivors, line by line: ${SUMMARY}`);

/** @typedef {{ status: string, mutatorName: string, replacement: string, location: { start: { line: number, column: number } } }} Mutant */

/**
 * The last run's counts. Mutants of what runs once, as a module is loaded, are not tried; those that end in a time-out are
 * noticed.
 * @param {string} file
 */
function counted(file) {
  /** @type {{ files: Record<string, { mutants: Mutant[], source: string }> }} */
  const { files } = JSON.parse(readFileSync(`${FOLDER}/report.json`, 'utf8'));
  const { mutants = [], source = '' } = files[file] ?? {};
  const lines = source.split('\n');
  const of = (/** @type {string[]} */ ...wanted) => mutants.filter(({ status }) => wanted.includes(status));
  const [noticed, missed] = [of('Killed', 'Timeout'), of('Survived', 'NoCoverage')];
  return {
    score: Math.round((1000 * noticed.length) / Math.max(1, noticed.length + missed.length)) / 10,
    killed: of('Killed').length,
    timeout: of('Timeout').length,
    survived: of('Survived').length,
    uncovered: of('NoCoverage').length,
    ignored: of('Ignored').length,
    survivors: missed.map(({ location: { start }, mutatorName, replacement }) => ({
      line: start.line,
      kind: mutatorName,
      was: lines[start.line - 1]?.trim(),
      from: start.column,
      now: replacement,
    })),
  };
}
