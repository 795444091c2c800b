// Both modules look at the globals when they are loaded, so import this file only after `bareRealm` and
// `addPyodideGlobals`.
// tools/pyodide-plugin.ts removes their imports.
export { loadPyodide } from 'pyodide';
export { default as createPyodideModule } from 'pyodide/pyodide.asm.mjs';
