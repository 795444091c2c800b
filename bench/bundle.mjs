// Bundles programs of this folder, with the sources of this working tree or of another.
import { existsSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'vite';

export const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '..');

const ABSENT = '\0absent';

/**
 * Has what is imported from `folders` come from another working tree of this project; a file that is not there has no exports.
 * @param {string} tree @param {readonly string[]} folders @returns {import('vite').Plugin}
 */
function sourcesOf(tree, folders) {
  const own = folders.map((folder) => path.join(root, folder) + path.sep);
  return {
    name: 'sources-of',
    enforce: 'pre',
    resolveId(source, importer) {
      if (!importer || !source.startsWith('.')) return null;
      const found = path.resolve(path.dirname(importer), source);
      if (!own.some((folder) => found.startsWith(folder))) return null;
      const there = path.join(tree, path.relative(root, found));
      return existsSync(there) ? there : ABSENT;
    },
    load: (id) => (id === ABSENT ? 'export {};' : null),
  };
}

/**
 * Bundles an entry, named from this folder; returns the file. `tree`: where the sources are, if not here; `folders` of it are taken.
 * @param {string} entry @param {string} folder @param {boolean} node @param {string} [tree] @param {readonly string[]} [folders]
 */
export async function bundle(entry, folder, node, tree = root, folders = ['src']) {
  if (!existsSync(path.join(tree, 'src/model')))
    throw new Error(`bench: ${tree} has no src/model, so it isn’t this project.`);
  const input = path.resolve(root, 'bench', entry);
  const common = { outDir: folder, emptyOutDir: true, copyPublicDir: false, minify: false };
  const library = { entry: input, formats: /** @type {['es']} */ (['es']), fileName: () => 'bundle.js' };
  await build({
    ...{ root, configFile: path.join(root, 'tools/cli.vite.config.ts'), logLevel: 'error', base: './' },
    ...(path.resolve(tree) !== root && { plugins: [sourcesOf(path.resolve(tree), folders)] }),
    build: node ? { ...common, ssr: input, target: 'node20' } : { ...common, lib: library },
  });
  return path.join(folder, node ? path.basename(entry).replace('.mjs', '.js') : 'bundle.js');
}
