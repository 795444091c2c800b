// npm run wheel [-- --page FOLDER] [--out FOLDER] [--python FILE]
// Builds the Python package: its sources (python/), the built page (--page names one), and the viewer for notebooks. The wheel is written
// to python/dist or --out, by pip, which fetches the build backend.
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
if (page === undefined) await build({ logLevel: 'warn', base: './', build: { sourcemap: false, outDir: site } });
const source = path.join(folder, 'source');
mkdirSync(source);
for (const file of ['python/pyproject.toml', 'python/README.md', 'package.json', 'LICENSE'])
  cpSync(file, path.join(source, path.basename(file)));
copySources(path.join(source, 'src'));
const target = path.join(source, 'src/rollout_playground');
writeFileSync(path.join(target, 'viewer.html'), await notebookViewer());
cpSync(site, path.join(target, 'page'), { recursive: true, filter: (file) => !file.endsWith('.map') });
const pip = ['-m', 'pip', 'wheel', '--quiet', '--no-deps', '--wheel-dir', path.resolve(out), source];
const { status, error } = spawnSync(python, pip, { stdio: 'inherit' });
if (error) console.error(`${python} could not be started: ${error.message}. Name a Python: --python FILE`);
process.exitCode = status ?? 1;
