// oxlint-disable-next-line import/default -- `?raw` imports a file's text as the default
import realm from './bareRealm.ts?raw';
// oxlint-disable-next-line import/default -- likewise
import interpreter from './interpreter.ts?raw';
// oxlint-disable-next-line import/default -- likewise
import talk from './sharedChannel.ts?raw';
import { eraseTypes } from '../script/declaration.ts';
import { withoutImports } from './pyodideSource.ts';

/** Programs for a thread outside of a page. Each is the body of a function that fills `exports`. */
export interface ThreadPrograms {
  readonly realm: string;
  readonly talk: string;
  readonly interpreter: string;
  readonly loader: string; // has loadPyodide
  readonly module: string; // has createPyodideModule
}

/**
 * The programs for a thread in which Python runs. `loader` and `module` are the texts of pyodide.mjs and
 * pyodide.asm.mjs.
 */
export function threadPrograms(loader: string, module: string): ThreadPrograms {
  return {
    realm: eraseTypes(realm),
    talk: eraseTypes(talk),
    interpreter: eraseTypes(interpreter),
    loader: functionBodyOf(loader, /export\s*\{\s*(\w+) as loadPyodide,[^}]*\};?/, 'exports.loadPyodide = $1;'),
    module: functionBodyOf(module, /export default (\w+);?/, 'exports.createPyodideModule = $1;'),
  };
}

/** Converts a module's text to the body of a function. */
function functionBodyOf(code: string, exported: RegExp, replacement: string): string {
  if (!exported.test(code)) throw new Error('This version of Pyodide doesn’t have the expected exports.');
  return withoutImports(code).replace(exported, replacement);
}
