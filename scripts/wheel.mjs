// npm run wheel [-- --page FOLDER] [--out FOLDER] [--python FILE]
// Builds the Python package: its sources (python/), the built page (--page names one), and the viewer for notebooks. The wheel is written
// to python/dist or --out by hatchling, which that Python needs: python3 -m pip install hatchling
import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'vite';
import { readFlags } from '../tools/flags.mjs';
import { copySources, notebookViewer } from '../tools/pythonPackage.mjs';

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const { given } = readFlags(process.argv.slice(2), { page: 'value', out: 'value', python: 'value' });
const { page, out = path.join(root, 'python/dist'), python = 'python3' } = given;
const folder = mkdtempSync(path.join(tmpdir(), 'wheel-'));
process.on('exit', () => rmSync(folder, { recursive: true, force: true }));

const site = page ?? path.join(folder, 'page');
process.chdir(root);
if (page === undefined)
  await build({ logLevel: 'warn', base: './', build: { sourcemap: false, outDir: site, emptyOutDir: true } });
const source = path.join(folder, 'source');
mkdirSync(source);
for (const file of ['python/pyproject.toml', 'python/README.md', 'package.json', 'LICENSE'])
  cpSync(file, path.join(source, path.basename(file)));
copySources(path.join(source, 'src'));
const target = path.join(source, 'src/rollout_playground');
writeFileSync(path.join(target, 'viewer.html'), await notebookViewer());
cpSync(site, path.join(target, 'page'), { recursive: true, filter: (file) => !file.endsWith('.map') });
const built = spawnSync(python, ['-m', 'hatchling', 'build', '-t', 'wheel', '-d', path.resolve(out)], {
  cwd: source,
  stdio: 'inherit',
});
if (built.status !== 0)
  console.error(`The wheel was not built. It needs a Python with hatchling: ${python} -m pip install hatchling`);
process.exitCode = built.status ?? 1;
