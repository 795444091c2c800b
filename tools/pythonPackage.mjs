// What the Python package (python/) takes from the page: the rules of its server, and the viewer of a notebook.
import { cpSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { FRAMED_BY_ALL, PAGE_POLICY, PANEL_NAMES } from '../scripts/page-policy.mjs';
import { HEADERS, TYPES } from '../scripts/page-server.mjs';
import { ALSO, COMMANDS } from '../scripts/rollout-playground.mjs';
import { DEFAULT_PORT } from '../scripts/serveHere.mjs';
import { MAX_BYTES, MAX_FILES, READABLE, TOO_LARGE } from '../scripts/watchedFolder.mjs';

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));

/** Copies the package's sources into a folder, with the rules that its server shares with the one in Node. @param {string} folder */
export function copySources(folder) {
  const rules = {
    ...{ types: TYPES, headers: HEADERS, framedByAll: FRAMED_BY_ALL, panels: PANEL_NAMES, defaultPort: DEFAULT_PORT },
    ...{ readable: READABLE.source, maxFiles: MAX_FILES, maxBytes: MAX_BYTES, tooLarge: TOO_LARGE },
    commands: [...COMMANDS, ...Object.keys(ALSO)],
  };
  cpSync(path.join(root, 'python/src/rollout_playground'), path.join(folder, 'rollout_playground'), {
    recursive: true,
    filter: (file) => !file.includes('__pycache__'),
  });
  writeFileSync(path.join(folder, 'rollout_playground/rules.json'), JSON.stringify(rules));
}

/** The page's policy, for a frame that loads nothing: its scripts stand in it, and the worker's is made of them. */
const VIEWER_POLICY = Object.entries({
  'script-src': "'unsafe-inline' 'wasm-unsafe-eval'",
  'worker-src': 'data:',
  'connect-src': "'none'",
  'style-src': "'unsafe-inline'",
}).reduce((policy, [rule, value]) => policy.replace(new RegExp(`${rule} [^;]*`), `${rule} ${value}`), PAGE_POLICY);
/** The worker's address: `data:`, as notebooks of VS Code allow no `blob:`. */
const WORKER = "'data:text/javascript,' + encodeURIComponent(document.getElementById('reader').textContent)";
/** Script that may stand in HTML. @param {string} code */
const inline = (code) => code.replaceAll('</script', '\\x3C/script').replaceAll('<!--', '\\x3C!--');

/** The viewer (src/ui/notebook.tsx) as one file of HTML, because a frame in a notebook has no server. @returns {Promise<string>} */
export async function notebookViewer() {
  const [{ default: react }, { build }] = await Promise.all([import('@vitejs/plugin-react'), import('vite')]);
  const checks = { pluginTimings: false };
  const built = await build({
    ...{ root, configFile: false, logLevel: 'warn', publicDir: false, plugins: [react()] },
    worker: { format: 'iife', rolldownOptions: { checks } },
    experimental: { renderBuiltUrl: () => ({ runtime: WORKER }) },
    build: {
      ...{ write: false, target: 'es2022', cssCodeSplit: false, assetsInlineLimit: 0 },
      rolldownOptions: { checks, input: path.join(root, 'src/ui/notebook.tsx'), output: { codeSplitting: false } },
    },
  });
  const files = 'output' in built ? built.output : [];
  /** @param {RegExp} name */
  const text = (name) => {
    const found = files.filter(({ fileName }) => name.test(fileName));
    const [file] = found;
    if (!file || found.length > 1)
      throw new Error(`The viewer has ${found.length} files like ${name} in place of one.`);
    return file.type === 'chunk' ? file.code : String(file.source);
  };
  return `<!doctype html>
<html lang="en">
<meta charset="UTF-8">
<meta http-equiv="Content-Security-Policy" content="${VIEWER_POLICY}">
<meta name="color-scheme" content="light dark">
<title>Rollouts</title>
<style>${text(/\.css$/)}</style>
<div id="root"></div>
<script type="text/plain" id="reader">${inline(text(/reader-[^/]*\.js$/))}</script>
<script type="module">${inline(text(/notebook-[^/]*\.js$/))}</script>
</html>
`;
}
