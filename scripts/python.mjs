// npm run test:python [-- --python FILE] [--install] [--if-possible] [arguments of pytest]
// Holds what the page writes against the Python packages it is written for. Makes a virtual environment of its own in
// node_modules/.cache/python (about 6 GB, most of it torch; --python takes one that has the packages instead), writes the cases with
// test/python/cases/*.ts, each into a folder of its own name, and reads them with test/python/test_*.py. --install stops once the
// environment is there; --if-possible says why and ends well where there is no Python, no room or no package registry that answers. A list that
// cannot be installed is a failure, and so is a skipped test in the project's own environment.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'vite';
import { readFlags } from '../tools/flags.mjs';
import { useSwiftShader } from './browser.mjs';
import { installFailure, verdictOf } from './pythonVerdict.mjs';

useSwiftShader(); // for WebGPU in Node, where no driver is named
const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '..');
const tests = path.join(root, 'test/python');
const cache = path.join(root, 'node_modules/.cache/python');
const wanted = [3, 10];
const ROOM = 12; // GB, while packages are unpacked
const UV = 'uv==0.13.9';

// other flags are pytest's
const flags = /** @type {const} */ ({ 'if-possible': 'switch', install: 'switch', slow: 'switch', python: 'value' });
const { given, rest } = readFlags(process.argv.slice(2), flags);
const { 'if-possible': ifPossible = false, install: installOnly = false, slow = false, python: named } = given;

/** Ends where the tests cannot be run; `excused`: for a reason that is not theirs. @param {string} why @param {boolean} [excused] @returns {never} */
function cannot(why, excused = true) {
  const skipped = ifPossible && excused;
  console.error(skipped ? `Python tests are skipped: ${why}` : why);
  process.exit(skipped ? 0 : 1);
}

/** Whether pip finds a package, whichever version. @param {string} interpreter */
function registryAnswers(interpreter) {
  const ask = [
    '-m',
    'pip',
    'install',
    '--quiet',
    '--dry-run',
    '--no-deps',
    '--ignore-installed',
    '--retries',
    '1',
    'pytest',
  ];
  return spawnSync(interpreter, ask, { cwd: root, stdio: 'ignore' }).status === 0;
}

/** Runs a program and ends with its exit code unless it is 0. @param {string} command @param {readonly string[]} args @param {NodeJS.ProcessEnv} [env] */
function run(command, args, env) {
  const { status, error } = spawnSync(command, args, { cwd: root, stdio: 'inherit', env: { ...process.env, ...env } });
  if (error) console.error(`${command} could not be started: ${error.message}`);
  if (status !== 0) process.exit(status ?? 1);
}

/** A Python that is new enough, by name; none: ends with what to do. */
function python() {
  const asked = `import sys; sys.exit(sys.version_info < (${wanted.join(', ')}))`;
  const found = ['python3', 'python'].find((name) => spawnSync(name, ['-c', asked]).status === 0);
  if (found) return found;
  return cannot(
    `No Python of ${wanted.join('.')} or newer was found. Install one from https://www.python.org, or name one: --python FILE.`,
  );
}

/** The interpreter of the project's own environment, with all of test/python/requirements*.txt. */
function environment() {
  const lists = readdirSync(tests).filter((file) => /^requirements.*\.txt$/.test(file));
  const hash = createHash('sha256');
  for (const list of lists) hash.update(readFileSync(path.join(tests, list)));
  const folder = path.join(cache, 'environment');
  const stamp = path.join(folder, 'requirements-hash');
  const digest = hash.digest('hex');
  const interpreter = path.join(folder, process.platform === 'win32' ? 'Scripts/python.exe' : 'bin/python');
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === digest) return interpreter;
  const { bavail, bsize } = statfsSync(root);
  const free = (bavail * bsize) / 1e9;
  if (free < ROOM)
    cannot(
      `${free.toFixed(1)} GB are free, and its packages need ${ROOM}. Make room, or name an environment: --python FILE.`,
    );
  console.log(`Making ${path.relative(root, folder)} and installing into it, once, about 6 GB:`);
  for (const list of lists) console.log(readFileSync(path.join(tests, list), 'utf8').trim());
  rmSync(folder, { recursive: true, force: true });
  run(python(), ['-m', 'venv', folder]);
  // most modules are never imported: those that are compile then
  const pip = ['-m', 'pip', 'install', '--quiet', '--no-cache-dir', '--no-compile'];
  // uv unpacks the same packages in less than half of pip's processor time; where it can't be had, or can't install, pip does it
  const hasUv = spawnSync(interpreter, [...pip, UV], { cwd: root, stdio: 'ignore' }).status === 0;
  const uv = ['-m', 'uv', 'pip', 'install', '--quiet', '--no-cache', '--python', interpreter];
  for (const list of lists) {
    const alone = list.includes('no-deps') ? ['--no-deps'] : []; // packages that pin what others of the list contradict
    const apart = list.includes('apart') ? ['--target', path.join(folder, 'apart')] : []; // whose own packages do
    const installed = (hasUv ? [uv, pip] : [pip]).some((install) => {
      const packages = [...install, ...alone, ...apart, '-r', path.join(tests, list)];
      return spawnSync(interpreter, packages, { cwd: root, stdio: 'inherit' }).status === 0;
    });
    if (!installed) {
      const { why, excused } = installFailure(list, () => registryAnswers(interpreter));
      cannot(why, excused);
    }
  }
  writeFileSync(stamp, digest);
  return interpreter;
}

/** Writes the cases and returns their folder. */
async function cases() {
  const folder = path.join(cache, `cases-${process.pid}`);
  process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
  const programs = path.join(folder, 'programs');
  const names = readdirSync(path.join(tests, 'cases')).flatMap((file) => /^(.*)\.ts$/.exec(file)?.[1] ?? []);
  await build({
    ...{ root, configFile: path.join(root, 'tools/cli.vite.config.ts'), logLevel: 'error' },
    build: {
      ...{ ssr: true, outDir: programs, emptyOutDir: true, target: 'node20', minify: false, copyPublicDir: false },
      rolldownOptions: {
        input: Object.fromEntries(names.map((name) => [name, path.join(tests, 'cases', `${name}.ts`)])),
      },
    },
  });
  for (const name of names) {
    const out = path.join(folder, name);
    mkdirSync(out, { recursive: true });
    run(process.execPath, ['--enable-source-maps', path.join(programs, `${name}.js`), out], {
      ...bytecode,
      PYTHON: interpreter,
    });
  }
  return folder;
}

const interpreter = named ?? environment();
if (installOnly) process.exit(0);
/** Nothing is written into the folders of the tests, nor into an environment that is somebody's; the own one keeps what it compiled. */
const bytecode = named
  ? { PYTHONDONTWRITEBYTECODE: '1' }
  : { PYTHONDONTWRITEBYTECODE: '', PYTHONPYCACHEPREFIX: path.join(cache, 'bytecode') };
if (slow) process.env['SLOW_CASES'] = '1'; // SmolLM2's training, too
const env = {
  ...bytecode,
  CASES: await cases(),
  HF_HUB_OFFLINE: '1',
  OMP_NUM_THREADS: '1', // models are tiny: a second thread waits, and takes a core for it
  TOKENIZERS_PARALLELISM: 'false',
};
const report = path.join(env.CASES, 'report.xml');
const pytest = ['-m', 'pytest', '-q', '-p', 'no:cacheprovider', `--junit-xml=${report}`, tests, ...rest];
const { status } = spawnSync(interpreter, pytest, { cwd: root, stdio: 'inherit', env: { ...process.env, ...env } });
const { line, code } = verdictOf({
  status,
  report: existsSync(report) ? readFileSync(report, 'utf8') : '',
  own: !named,
});
console.log(line);
process.exitCode = code;
