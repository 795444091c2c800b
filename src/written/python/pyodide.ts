// Both modules look at the globals when they are loaded, so import this file only in a bare realm.
// tools/pyodide-plugin.ts removes their imports.
export { loadPyodide } from 'pyodide';
export { default as createPyodideModule } from 'pyodide/pyodide.asm.mjs';
