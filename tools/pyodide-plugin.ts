import type { Plugin } from 'vite';
import { withoutImports } from '../src/written/python/pyodideSource.ts';

const EXPECTED: ReadonlySet<string> = new Set(['EVAL', 'COMMONJS_VARIABLE_IN_ESM']);
const PYODIDE_FILES = /pyodide[\\/]pyodide(?:\.asm)?\.mjs/;

/**
 * Takes from Pyodide what it would load other programs with. Keeps the bundler from warning about its code, which
 * nobody here can change: `eval` and the variables of CommonJS.
 */
export function pyodide(): Plugin {
  return {
    name: 'pyodide',
    enforce: 'pre',
    onLog: (_, { code = '', id = '', message }) => !(EXPECTED.has(code) && PYODIDE_FILES.test(`${id} ${message}`)),
    transform: {
      filter: { id: PYODIDE_FILES },
      handler: (code) => ({ code: withoutImports(code), map: null }),
    },
  };
}
