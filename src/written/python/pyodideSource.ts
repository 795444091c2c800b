/**
 * A program of Pyodide without its means to load others: what it would import by a name that it makes up is refused. Otherwise Python
 * could have it import a file from a server.
 */
export function withoutImports(code: string): string {
  return code
    .replaceAll(/\bimport\s*\(/g, '(() => { throw new Error("Nothing is imported here."); })(')
    .replaceAll('import.meta.url', '"/"');
}
