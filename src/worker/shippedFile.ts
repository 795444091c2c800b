/** Returns the bytes of a file under public/, or null if there is none. */
export async function shippedFile(path: string): Promise<ArrayBuffer | null> {
  // the worker's script is one folder below the page, both in builds and in development
  const address = new URL('../', location.href);
  const response = await fetch(new URL(path, address)).catch(() => null);
  const found = response?.ok === true && !response.headers.get('content-type')?.startsWith('text/html');
  return found ? response.arrayBuffer() : null;
}
