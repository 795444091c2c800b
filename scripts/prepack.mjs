// npm pack: builds what the package holds, the page (dist/, without source maps) and the programs of the command line (commands/).
import { cpSync, rmSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'vite';
import { COMMANDS } from './rollout-playground.mjs';

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
process.chdir(root);
await build({ logLevel: 'warn', base: './', build: { sourcemap: false } });
rmSync('commands', { recursive: true, force: true });
await build({
  ...{ root, configFile: path.join(root, 'tools/cli.vite.config.ts'), logLevel: 'warn' },
  ssr: { noExternal: true, external: ['webgpu'] },
  build: {
    ...{ ssr: true, outDir: 'commands', emptyOutDir: true, target: 'node20', minify: true, copyPublicDir: false },
    rolldownOptions: {
      input: Object.fromEntries(COMMANDS.map((name) => [name, `src/cli/${name}.ts`])),
    },
  },
});
cpSync('dist/licences.txt', 'commands/licences.txt');
