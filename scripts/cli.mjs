// Runs src/cli/NAME.ts, or tools/NAME/NAME.ts, in Node: bundles it (TypeScript and .wgsl imports), then starts it in a process of its own.
// LD_LIBRARY_PATH is read when a process starts, which is why there are two.
import { spawn } from 'node:child_process';
import { existsSync, readdirSync, rmSync } from 'node:fs';
import { constants } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'vite';
import { useSwiftShader } from './browser.mjs';

const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '..');
const [name, ...args] = process.argv.slice(2);
const entry = [`src/cli/${name}.ts`, `tools/${name}/${name}.ts`].map((file) => path.join(root, file)).find(existsSync);
if (!name || !entry) {
  console.error(`scripts/cli.mjs: ${name ?? 'nothing'} isn’t the name of a program in src/cli or tools.`);
  process.exit(2);
}

/** True where Vulkan has a driver of its own that is not a software one. */
function hasVulkanDriver() {
  return ['/usr/share/vulkan/icd.d', '/etc/vulkan/icd.d'].some(
    (dir) =>
      existsSync(dir) && readdirSync(dir).some((file) => file.endsWith('.json') && !/lvp|swiftshader/.test(file)),
  );
}
if (process.platform === 'linux' && !hasVulkanDriver()) useSwiftShader();

const cache = path.join(root, 'node_modules/.cache/cli');
const outDir = path.join(cache, `${name}-${process.pid}`);
const clean = () => rmSync(outDir, { recursive: true, force: true });
process.on('exit', clean);
/** @type {import('node:child_process').ChildProcess | undefined} */
let child;
for (const signal of /** @type {const} */ (['SIGINT', 'SIGTERM'])) {
  process.on(signal, () => (child ? child.kill(signal) : process.exit(1)));
}
try {
  removeLeftovers();
  await build({
    root,
    configFile: path.join(root, 'tools/cli.vite.config.ts'),
    logLevel: 'silent',
    build: { ssr: entry, outDir, emptyOutDir: true, target: 'node20', minify: false, copyPublicDir: false },
  });
} catch (error) {
  const message = error instanceof Error ? error.message : String(error);
  const why = message.includes('Failed to write') ? (/Caused by:\s+(.+)/.exec(message)?.[1] ?? message) : message;
  console.error(
    `${name} could not be bundled into ${outDir}: ${why}\nThat folder must be writable, on a disk with space.`,
  );
  process.exit(1);
}
// paths in arguments are the caller's: npm moves to the project's folder and keeps where it was called in INIT_CWD
const callerFolder = process.cwd() === root ? (process.env['INIT_CWD'] ?? root) : process.cwd();
// without the `--`, Node 20 takes an --env-file among the program's arguments for its own
child = spawn(process.execPath, ['--enable-source-maps', '--', path.join(outDir, `${name}.js`), ...args], {
  cwd: root,
  env: { ...process.env, CALLER_FOLDER: callerFolder },
  stdio: 'inherit',
});
child.on('exit', (code, signal) => {
  process.exitCode = signal ? 128 + constants.signals[signal] : (code ?? 1); // as shells count
});

/** Bundles of programs that were killed. */
function removeLeftovers() {
  for (const left of existsSync(cache) ? readdirSync(cache) : []) {
    const id = Number(/-(\d+)$/.exec(left)?.[1] ?? NaN);
    try {
      process.kill(id, 0); // throws where no such process is alive
    } catch {
      rmSync(path.join(cache, left), { recursive: true, force: true });
    }
  }
}
