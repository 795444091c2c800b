// Both look around as they are loaded, so import this in a bare realm only. tools/pyodide-plugin.ts takes their imports away.
export { loadPyodide } from 'pyodide';
export { default as createPyodideModule } from 'pyodide/pyodide.asm.mjs';
