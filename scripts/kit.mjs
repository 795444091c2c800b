// npm run kit [-- --platform linux-x64|linux-arm64|darwin-universal|win32-x64|win32-arm64] [--with-node] [--out DIR]
// npm run kit -- --full [--peers] [--before DIR] [--prepare] [--quick] [--only NAME,…] [--model FILE] [--minutes N] [--out DIR]
// Packs kit/rollout-kit-PLATFORM.tar.gz: what tries a machine's GPU with Node alone, without this project and without a network
// (docs/adapter-report.md). With --with-node the Node that runs this is packed too, for machines that have none.
// --full measures this machine's GPU in Chromium at once, or with --prepare packs what does that elsewhere (docs/speed.md):
//   --peers   beside jax-js and TensorFlow.js, which npm installs in node_modules/.cache/kit-peers
//   --before  beside another working tree of this project, whose packages are installed
// The other flags are those of the kit's own program: its --help names them.
import { spawnSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { builtinModules, createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'vite';
import { bundle } from '../bench/bundle.mjs';
import { scriptFlags } from './usage.mjs';

const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '..');
const NAME = 'rollout-kit';
const MOST_BYTES = 60e6; // of the packed kit
const DAWN = path.join(root, 'node_modules/webgpu');
const here = `${process.platform}-${process.platform === 'darwin' ? 'universal' : process.arch}`;

const PEERS_FOLDER = path.join(root, 'node_modules/.cache/kit-peers');
/** Engines by others: how the table names them, their module in bench/peers, what that is given, and what npm installs. */
const PEERS = [
  { name: 'jax-js', module: 'jaxJs', packages: { '@jax-js/jax': '0.1.25' } },
  {
    ...{ name: 'TensorFlow.js', module: 'tfJs' },
    packages: { '@tensorflow/tfjs': '4.22.0', '@tensorflow/tfjs-backend-webgpu': '4.22.0' },
  },
];
/** What the built page does without while it is measured. */
const UNNEEDED = /\.map$|^(?:pyodide|python_stdlib)/;

function read() {
  const flags = /** @type {const} */ ({
    platform: 'value',
    out: 'value',
    'with-node': 'switch',
    full: 'switch',
    prepare: 'switch',
    peers: 'switch',
    before: 'value',
    quick: 'switch',
    only: 'value',
    model: 'value',
    minutes: 'value',
  });
  const { given: values } = scriptFlags(import.meta.url, flags);
  const platforms = readdirSync(path.join(DAWN, 'dist'));
  const wanted = values.platform ?? here;
  if (!platforms.includes(wanted))
    throw new Error(`--platform can’t be ${wanted}. Use one of ${platforms.join(', ')}.`);
  const withNode = values['with-node'] ?? false;
  if (withNode && wanted !== here)
    throw new Error(
      `--with-node: packs the Node of this machine (${here}), not of --platform ${wanted}. Leave one of them out.`,
    );
  const { full = false, prepare = false, peers = false, quick = false } = values;
  const ofFull = Object.entries({ prepare, peers, quick, ...values }).filter(
    ([name, value]) => value && ['prepare', 'peers', 'before', 'quick', 'only', 'model', 'minutes'].includes(name),
  );
  if (!full && ofFull[0]) throw new Error(`--${ofFull[0][0]} needs --full.`);
  if (prepare && (quick || (values.only ?? values.model ?? values.minutes) !== undefined))
    throw new Error('--prepare only packs. Give the flags of a run to the packed kit: ./run --full …');
  const caller = process.cwd() === root ? (process.env['INIT_CWD'] ?? root) : process.cwd();
  const before = values.before === undefined ? null : path.resolve(caller, values.before);
  if (before && !existsSync(path.join(before, 'node_modules/vite')))
    throw new Error(`--before can’t be ${values.before}. Use a working tree of this project in which npm ci was run.`);
  const given = Object.entries({ only: values.only, minutes: values.minutes, out: values.out ?? '.' });
  const runFlags = [
    ...given.flatMap(([name, value]) => (value === undefined ? [] : [`--${name}`, value])),
    ...(values.model ? ['--model', values.model] : []),
    ...(quick ? ['--quick'] : []),
  ];
  return {
    ...{ wanted, withNode, full, prepare, peers, before, caller, runFlags },
    out: path.resolve(values.out ? caller : root, values.out ?? 'kit'),
  };
}

/** Fills a folder with the kit. @param {string} kit @param {string} wanted platform @param {boolean} withNode @param {boolean} withDawn for parts in Node */
async function fill(kit, wanted, withNode, withDawn) {
  await build({
    ...{ root, configFile: path.join(root, 'tools/cli.vite.config.ts'), logLevel: 'error' },
    ssr: { noExternal: true, external: ['webgpu', 'playwright'] },
    build: {
      ...{ ssr: path.join(root, 'tools/kit/kit.ts'), outDir: kit, emptyOutDir: true, target: 'node20' },
      ...{ minify: false, copyPublicDir: false },
    },
  });
  renameEntry(kit);
  for (const part of withDawn ? ['index.js', 'LICENSE.md', path.join('dist', wanted)] : [])
    cpSync(path.join(DAWN, part), path.join(kit, 'webgpu', part), { recursive: true });
  cpSync(path.join(root, 'public/warm'), path.join(kit, 'public/warm'), { recursive: true });
  for (const file of readdirSync(path.join(root, 'test/golden')).filter((name) =>
    /\.(?:safetensors|json)$/.test(name),
  )) {
    cpSync(path.join(root, 'test/golden', file), path.join(kit, 'golden', file));
  }
  cpSync(path.join(root, 'LICENSE'), path.join(kit, 'LICENSE'));
  writeFileSync(path.join(kit, 'package.json'), `${JSON.stringify({ name: NAME, private: true, type: 'module' })}\n`);
  writeFileSync(path.join(kit, 'README.txt'), README);
  if (withNode) cpSync(process.execPath, path.join(kit, process.platform === 'win32' ? 'node.exe' : 'node'));
  writeFileSync(path.join(kit, 'run'), RUN, { mode: 0o755 });
  writeFileSync(path.join(kit, 'run.cmd'), RUN_CMD);
}

/** The commit of a working tree, short; unknown where git can't say. @param {string} tree */
function commitOf(tree) {
  const { stdout } = spawnSync('git', ['-C', tree, 'rev-parse', '--short', 'HEAD'], { encoding: 'utf8' });
  return stdout?.trim() || 'unknown';
}

/** @param {string} command @param {readonly string[]} args @param {string} cwd */
function mustRun(command, args, cwd) {
  const done = spawnSync(command, args, { cwd, stdio: ['ignore', 'ignore', 'inherit'] });
  if (done.status !== 0) throw new Error(`${command} ${args.join(' ')} failed in ${cwd}; the reason is above.`);
}

/** The built page of a working tree and its engine alone. @param {string} tree @param {string} folder */
async function addTree(tree, folder) {
  const page = path.join(folder, 'page');
  const vite = path.join(tree, 'node_modules/vite/bin/vite.js');
  mustRun(process.execPath, [vite, 'build', '--outDir', page, '--emptyOutDir', '--logLevel', 'error'], tree);
  for (const name of readdirSync(page, { recursive: true, encoding: 'utf8' })) {
    if (UNNEEDED.test(path.basename(name))) rmSync(path.join(page, name), { recursive: true });
  }
  await bundle('../tools/kit/pageEngine.ts', path.join(folder, 'pageEngine'), false, tree, ['src', 'bench']);
}

/** Engines by others, each as one script. @param {string} folder */
async function addPeers(folder) {
  const packages = PEERS.flatMap(({ packages }) => Object.entries(packages));
  if (packages.some(([name]) => !existsSync(path.join(PEERS_FOLDER, 'node_modules', name)))) {
    const wanted = packages.map(([name, version]) => `${name}@${version}`);
    mkdirSync(PEERS_FOLDER, { recursive: true });
    const flags = ['--ignore-scripts', '--no-audit', '--no-fund'];
    mustRun(
      process.platform === 'win32' ? 'npm.cmd' : 'npm',
      ['install', '--prefix', PEERS_FOLDER, ...flags, ...wanted],
      root,
    );
  }
  for (const { module, packages } of PEERS) {
    const [library, ...others] = Object.keys(packages);
    const entry = path.join(PEERS_FOLDER, `${module}.mjs`);
    const from = path.join(root, 'bench/peers', `${module}.mjs`);
    const imports = [...others.map((name) => `import '${name}';`), `import * as library from '${library}';`];
    const lines = [
      ...imports,
      `import { engine } from ${JSON.stringify(from)};`,
      'export const setup = engine(library);',
    ];
    writeFileSync(entry, `${lines.join('\n')}\n`);
    await bundle(entry, path.join(folder, module), false);
  }
}

/**
 * What `./run --full` needs besides: the driver of the browser, scripts for its pages, built pages. Returns what takes turns.
 * @param {string} kit @param {{ peers: boolean, before: string | null }} wanted
 */
async function fillFull(kit, { peers, before }) {
  const driver = path.dirname(createRequire(import.meta.url).resolve('playwright-core/package.json'));
  const needed = (/** @type {string} */ file) => !/[\\/](?:types|vite)$|\.d\.ts$/.test(file);
  cpSync(driver, path.join(kit, 'node_modules/playwright'), { recursive: true, filter: needed });
  await addTree(root, path.join(kit, 'this'));
  await bundle('../tools/kit/pageChecks.ts', path.join(kit, 'this/pageChecks'), false);
  if (before) await addTree(before, path.join(kit, 'before'));
  if (peers) await addPeers(path.join(kit, 'peers'));
  const tree = (/** @type {string} */ name, /** @type {string} */ folder) => ({
    ...{ name, engine: `/${folder}/pageEngine/bundle.js`, peer: null, page: `/${folder}/page/` },
  });
  return [
    tree('this engine', 'this'),
    ...(before ? [tree('before', 'before')] : []),
    ...(peers ? PEERS : []).map(({ name, module }) => ({
      name,
      engine: null,
      peer: `/peers/${module}/bundle.js`,
      page: null,
    })),
  ];
}

/** Bundles name their entry after its file, and Dawn by its package; the kit has no packages. @param {string} kit */
function renameEntry(kit) {
  let dawn = 0;
  const bundles = readdirSync(kit, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.js'));
  for (const name of bundles) {
    const file = path.join(kit, name);
    const to = name.includes(path.sep) ? '../webgpu/index.js' : './webgpu/index.js';
    const text = readFileSync(file, 'utf8').replace(/import\((["'])webgpu\1\)/g, () => (dawn++, `import("${to}")`));
    writeFileSync(file, text);
  }
  if (dawn !== 1) throw new Error(`kit: Dawn is imported in ${dawn} places of the bundle, not in one.`);
  const bare = bundles.flatMap((name) =>
    [
      ...readFileSync(path.join(kit, name), 'utf8').matchAll(
        /^(?:import|export)\b[^;\n]*\bfrom\s*["']((?!node:|\.)[^"']+)["']/gm,
      ),
    ].map(([, from = '']) => from),
  );
  const strange = bare.filter((from) => !builtinModules.includes(from));
  if (strange.length > 0) throw new Error(`kit: the bundle needs ${strange.join(', ')}, which the kit has not.`);
  writeFileSync(
    path.join(kit, 'run.mjs'),
    "process.env['CALLER_FOLDER'] ??= process.cwd();\nprocess.chdir(import.meta.dirname);\nawait import('./kit.js');\n",
  );
}

const RUN = `#!/bin/sh
# ./run [--quick] [--only NAME,…] [--out DIR]: see README.txt
here=$(cd "$(dirname "$0")" && pwd)
CALLER_FOLDER=$PWD
export CALLER_FOLDER
if [ -x "$here/node" ]; then exec "$here/node" "$here/run.mjs" "$@"; fi
exec node "$here/run.mjs" "$@"
`;
const RUN_CMD = `@echo off\r
set CALLER_FOLDER=%CD%\r
if exist "%~dp0node.exe" ("%~dp0node.exe" "%~dp0run.mjs" %*) else (node "%~dp0run.mjs" %*)\r
`;
const README = `Rollout Playground: does its GPU engine work here, and how fast?

  ./run              on Windows: run.cmd; or: node run.mjs
  ./run --quick      seconds instead of minutes for each part
  ./run --help       all options

It needs Node 20.19 or newer (unless this folder has a file "node") and a GPU with a driver for Vulkan, Metal or Direct3D 12. It needs no
network, and nothing is sent anywhere. It takes ten to thirty minutes on a GPU and writes, into the folder you call it from,

  adapter-report.json   everything that was measured
  adapter-report.txt    the same on one page

Parts: the kernels against PyTorch's numbers (both sets), speed compared with the adapter's limits, three training
runs, and devices lost in the middle of an update. Each runs in a process of its own with a limit of time. The exit code is 0 if all reference numbers are within bounds.

To share a report, open an issue in the project's repository and attach adapter-report.json. It holds the names of the GPU, CPU, operating
system and Node, times and numbers, no paths and no names of people.
`;

async function main() {
  const { wanted, withNode, full, prepare, peers, before, caller, runFlags, out } = read();
  const scratch = mkdtempSync(path.join(tmpdir(), `${NAME}-`));
  try {
    const kit = path.join(scratch, NAME);
    await fill(kit, wanted, withNode, !full);
    const contestants = full ? await fillFull(kit, { peers, before }) : [];
    const versions = {
      ...{ commit: commitOf(root), ...(before && { before: commitOf(before) }) },
      ...(peers && Object.assign({}, ...PEERS.map(({ packages }) => packages))),
    };
    writeFileSync(path.join(kit, 'contents.json'), `${JSON.stringify({ versions, contestants }, null, 1)}\n`);
    if (full && !prepare) {
      const program = [path.join(kit, 'run.mjs'), '--full', ...runFlags];
      const env = { ...process.env, CALLER_FOLDER: caller };
      process.exitCode = spawnSync(process.execPath, program, { stdio: 'inherit', env }).status ?? 1;
      return;
    }
    mkdirSync(out, { recursive: true });
    const file = path.join(out, `${NAME}${full ? '-full' : ''}-${wanted}${withNode ? '-node' : ''}.tar.gz`);
    const part = `${file}.${process.pid}.tmp`;
    const done = spawnSync('tar', ['-czf', part, '-C', scratch, NAME], { stdio: ['ignore', 'inherit', 'inherit'] });
    if (done.status !== 0) {
      rmSync(part, { force: true });
      throw new Error(
        `tar could not write ${file}${done.error ? ` (${done.error.message})` : ''}. Is there space, and may this user write there?`,
      );
    }
    const bytes = statSync(part).size;
    if (bytes > MOST_BYTES) {
      rmSync(part, { force: true });
      throw new Error(`the kit has ${(bytes / 1e6).toFixed(1)} MB, and the limit is ${MOST_BYTES / 1e6} MB.`);
    }
    renameSync(part, file);
    console.log(
      `${path.relative(process.cwd(), file)}: ${(bytes / 1e6).toFixed(1)} MB. Unpack it anywhere, then: ./run${full ? ' --full' : ''}`,
    );
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

try {
  await main();
} catch (error) {
  console.error(`kit: ${error instanceof Error ? error.message : String(error)}`);
  process.exitCode = 1;
}
