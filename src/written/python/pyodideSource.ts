/**
 * A program of Pyodide that can't load other files: every dynamic import throws. Otherwise Python code could make it
 * import a file from a server.
 */
export function withoutImports(code: string): string {
  return code
    .replaceAll(/\bimport\s*\(/g, '(() => { throw new Error("Nothing is imported here."); })(')
    .replaceAll('import.meta.url', '"/"');
}
