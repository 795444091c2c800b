// Runs src/cli/NAME.ts in Node: bundles it (TypeScript and .wgsl imports), then starts it in a process of its own.
// LD_LIBRARY_PATH is read when a process starts, which is why there are two.
import { spawn } from 'node:child_process';
import { existsSync, readdirSync, rmSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'vite';
import { useSwiftShader } from './browser.mjs';

const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '..');
const [name, ...args] = process.argv.slice(2);
const entry = path.join(root, 'src/cli', `${name}.ts`);
if (!name || !existsSync(entry)) {
  console.error(`scripts/cli.mjs: got ${name ?? 'nothing'}; want the name of a program in src/cli.`);
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

const outDir = path.join(root, 'node_modules/.cache/cli', `${name}-${process.pid}`);
await build({
  root,
  configFile: path.join(root, 'tools/cli.vite.config.ts'),
  logLevel: 'error',
  build: { ssr: entry, outDir, emptyOutDir: true, target: 'node20', minify: false, copyPublicDir: false },
});
const child = spawn(process.execPath, ['--enable-source-maps', path.join(outDir, `${name}.js`), ...args], {
  cwd: root,
  stdio: 'inherit',
});
for (const signal of /** @type {const} */ (['SIGINT', 'SIGTERM'])) process.on(signal, () => child.kill(signal));
child.on('exit', (code, signal) => {
  rmSync(outDir, { recursive: true, force: true });
  process.exitCode = signal ? 1 : (code ?? 1);
});
