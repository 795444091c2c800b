import { existsSync, rmSync } from 'node:fs';
import path from 'node:path';
import { build } from 'vite';

/** Programs as scripts/cli.mjs bundles them, once for many starts. */
export interface Bundled {
  readonly file: (name: string) => string;
  readonly remove: () => void;
}

const sourceOf = (name: string) =>
  [`src/cli/${name}.ts`, `tools/${name}/${name}.ts`].map((file) => path.resolve(file)).find(existsSync) ?? name;

/** Bundles programs of src/cli and tools; `process.pid` keeps runs of the tests apart. */
export async function bundled(...names: readonly string[]): Promise<Bundled> {
  const outDir = path.resolve(`node_modules/.cache/cli/test-${names.join('-')}-${process.pid}`);
  await build({
    ...{ root: process.cwd(), configFile: path.resolve('tools/cli.vite.config.ts'), logLevel: 'silent' },
    build: {
      ...{ ssr: true, outDir, emptyOutDir: true, target: 'node20', minify: false, copyPublicDir: false },
      rolldownOptions: { input: Object.fromEntries(names.map((name) => [name, sourceOf(name)])) },
    },
  });
  return {
    file: (name) => path.join(outDir, `${name}.js`),
    remove: () => rmSync(outDir, { recursive: true, force: true }),
  };
}
