import { readFileSync } from 'node:fs';
import path from 'node:path';
import { build, type Plugin } from 'vite';
import { licenceFiles, packageFolder } from './licences-plugin.ts';

const PROGRAM = /\?program$/;
const NAME = 'program';

/**
 * `import code from './file.ts?program'` gives a TypeScript file and all that it imports as one script, as text. The
 * script is a function that returns the file's exports. It begins with the licences of the packages in it.
 */
export function program(): Plugin {
  const made = new Map<string, Promise<{ readonly code: string; readonly files: readonly string[] }>>();
  return {
    name: 'program',
    enforce: 'pre',
    load: {
      filter: { id: PROGRAM },
      async handler(id) {
        const file = id.replace(PROGRAM, '');
        if (this.meta.watchMode || !made.has(file)) made.set(file, bundled(file));
        const { code, files } = await (made.get(file) ?? bundled(file));
        for (const each of files) this.addWatchFile(each);
        return { code: `export default ${JSON.stringify(code)};`, map: null, moduleType: 'js' };
      },
    },
  };
}

async function bundled(file: string) {
  const output = await build({
    ...{ configFile: false, publicDir: false, logLevel: 'warn' },
    build: {
      ...{ write: false, minify: false, target: 'es2022' },
      lib: { entry: file, formats: ['iife'], name: NAME, fileName: () => `${NAME}.js` },
    },
  });
  const [chunk] = Array.isArray(output) ? (output[0]?.output ?? []) : 'output' in output ? output.output : [];
  if (chunk?.type !== 'chunk') throw new Error(`${file} could not be bundled into one script.`);
  const ids = Object.keys(chunk.modules);
  const packages = new Set(ids.flatMap((id) => packageFolder(id) ?? []));
  const licences = [...packages].map((folder) =>
    [path.basename(folder), ...licenceFiles(folder).map((name) => readFileSync(name, 'utf8').trim())].join('\n\n'),
  );
  return {
    code: `(function () {\n${licences.map((text) => `/*\n${text}\n*/\n`).join('')}${chunk.code}\nreturn ${NAME};\n})`,
    files: ids.map((id) => id.split('?', 1)[0] ?? '').filter((id) => path.isAbsolute(id) && !id.includes('\0')),
  };
}
