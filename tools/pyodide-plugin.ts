import type { Plugin } from 'vite';
import { withoutImports } from '../src/written/python/pyodideSource.ts';

/** Takes from Pyodide what it would load other programs with. */
export function pyodide(): Plugin {
  return {
    name: 'pyodide',
    enforce: 'pre',
    transform: {
      filter: { id: /pyodide[\\/]pyodide(?:\.asm)?\.mjs/ },
      handler: (code) => ({ code: withoutImports(code), map: null }),
    },
  };
}
