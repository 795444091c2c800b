import { existsSync } from 'node:fs';
import path from 'node:path';
import { build } from 'vite';

/** The programs that tests start: all in one bundle, because bundling one takes as long as bundling four. */
const NAMES = ['doctor', 'environment', 'experiment', 'export', 'golden', 'handover', 'talk', 'train'] as const;
export type ProgramName = (typeof NAMES)[number];

/** `process.pid` keeps runs of the tests apart. Vitest kills its processes, so scripts/cli.mjs removes the folder once this one has ended. */
const FOLDER = path.resolve(`node_modules/.cache/cli/test-${process.pid}`);

const sourceOf = (name: string) =>
  [`src/cli/${name}.ts`, `tools/${name}/${name}.ts`].map((file) => path.resolve(file)).find(existsSync) ?? name;

let made: Promise<unknown> | undefined;

/** Bundles the programs as scripts/cli.mjs does, once for all test files of this process. Returns where a program's bundle is. */
export async function bundled(): Promise<(name: ProgramName) => string> {
  made ??= build({
    ...{ root: process.cwd(), configFile: path.resolve('tools/cli.vite.config.ts'), logLevel: 'silent' },
    build: {
      ...{ ssr: true, outDir: FOLDER, emptyOutDir: true, target: 'node20', minify: false, copyPublicDir: false },
      rolldownOptions: { input: Object.fromEntries(NAMES.map((name) => [name, sourceOf(name)])) },
    },
  });
  await made;
  return (name) => path.join(FOLDER, `${name}.js`);
}
