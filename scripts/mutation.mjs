// npm run mutation [-- FILE OR FOLDER …]: how many small changes of sources their unit tests notice. A file takes minutes.
//   --share .1 --seed 1   a random tenth of the changes, drawn with that seed
//   --again               only those that lived the last time
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { isDrawn } from '../tools/mutationSample.mjs';
import { MUTATION_TESTS } from '../tools/mutationTests.mjs';
import { scriptFlags } from './usage.mjs';

const FOLDER = 'test-results/mutation';
const SUMMARY = `${FOLDER}/summary.json`;

const flags = /** @type {const} */ ({ share: 'value', seed: 'value', again: 'switch' });
const { given, positionals: asked } = scriptFlags(import.meta.url, flags, Infinity);
const { share = '1', seed = '1', again = false } = given;
if (!(Number(share) > 0 && Number(share) <= 1)) fail(`--share can’t be ${share}. Use a number above 0 and at most 1.`);
const unknown = asked.filter((place) => !(place in MUTATION_TESTS));
if (unknown.length > 0) {
  fail(
    `${unknown.join(', ')} can’t be mutated. Name files and folders of tools/mutationTests.mjs, or none for all of them.`,
  );
}

/** @typedef {{ status: string, mutatorName: string, replacement: string, id: string, location: { start: { line: number, column: number } } }} Mutant */
/** @typedef {{ file: string, id: string, line: number, kind: string, was: string | undefined, from: number, now: string }} Survivor */
/** @typedef {{ score: number, low: number, high: number, killed: number, timeout: number, survivors: Survivor[] } & Record<string, unknown>} Counts */

const { runnerImport } = await import('vite'); // Node 20 cannot read TypeScript
const { shareInterval } = /** @type {typeof import('../src/base/inference.ts')} */ (
  (await runnerImport(path.resolve('src/base/inference.ts'), { configFile: false })).module
);

mkdirSync(FOLDER, { recursive: true });
/** @type {Record<string, Counts>} */
const summary = existsSync(SUMMARY) ? JSON.parse(readFileSync(SUMMARY, 'utf8')) : {};
for (const place of asked.length > 0 ? asked : Object.keys(MUTATION_TESTS)) {
  const tests = (MUTATION_TESTS[place] ?? []).map((name) => `test/${name}.test.ts`).filter((test) => existsSync(test));
  const last = summary[place];
  if (again && !last?.survivors.length) continue;
  /** @type {NodeJS.ProcessEnv} */
  const env = {
    ...process.env,
    MUTATION_TESTS: tests.join(','),
    MUTATION_SEED: seed,
    MUTATION_SHARE: share,
  };
  if (again) env['MUTATION_ONLY'] = last?.survivors.map(({ id }) => id).join(',');
  const sources = place.endsWith('.ts') ? place : `${place}/**/*.ts`;
  const { status } = spawnSync('npx', ['stryker', 'run', 'tools/stryker.json', '--mutate', sources], {
    stdio: ['ignore', 'inherit', 'inherit'],
    env,
  });
  if (status !== 0) process.exit(status ?? 1);
  const before = again && last ? last : { killed: 0, timeout: 0, share, seed: seed };
  summary[place] = { ...before, ...counted(before, env), tests };
  writeFileSync(SUMMARY, `${JSON.stringify(summary, null, 1)}\n`);
}
for (const [place, { score, low, high }] of Object.entries(summary)) {
  console.log(`${String(score).padStart(6)} % [${low}, ${high}]  ${place}`);
}
console.log(`Survivors, line by line: ${SUMMARY}`);

/**
 * The last run's counts, with those noticed before. Mutants of what runs once, as a module is loaded, are not tried; those that
 * end in a time-out are noticed. The interval is of the share in all of them, as far as they were drawn by chance.
 * @param {{ killed: number, timeout: number }} before @param {NodeJS.ProcessEnv} env
 */
function counted(before, env) {
  /** @type {{ files: Record<string, { mutants: Mutant[], source: string }> }} */
  const { files } = JSON.parse(readFileSync(`${FOLDER}/report.json`, 'utf8'));
  const drawn = Object.entries(files).flatMap(([file, { mutants, source }]) => {
    const lines = source.split('\n');
    return mutants.filter(({ id }) => isDrawn(id, env)).map((mutant) => ({ ...mutant, file, lines }));
  });
  const of = (/** @type {string[]} */ ...wanted) => drawn.filter(({ status }) => wanted.includes(status));
  const [killed, timeout] = [before.killed + of('Killed').length, before.timeout + of('Timeout').length];
  const missed = of('Survived', 'NoCoverage');
  const tried = killed + timeout + missed.length;
  const percent = (/** @type {number} */ part) => Math.round(1000 * part) / 10;
  const { low, high } = shareInterval(killed + timeout, tried);
  return {
    score: percent((killed + timeout) / Math.max(1, tried)),
    low: percent(low),
    high: percent(high),
    tried,
    killed,
    timeout,
    uncovered: of('NoCoverage').length,
    ignored: of('Ignored').length,
    survivors: missed.map(({ file, lines, id, location: { start }, mutatorName, replacement, status }) => ({
      file,
      id,
      line: start.line,
      kind: mutatorName,
      covered: status === 'Survived',
      was: lines[start.line - 1]?.trim(),
      from: start.column,
      now: replacement,
    })),
  };
}

/** Ends the program. @param {string} message */
function fail(message) {
  console.error(message);
  process.exit(1);
}
