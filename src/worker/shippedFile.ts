/** Bytes of a file under public/, from the worker; null when there is none. */
export async function shippedFile(path: string): Promise<ArrayBuffer | null> {
  // relative to the worker's own script, one folder below the page both as built and as served for development
  const address = new URL('../', location.href);
  const response = await fetch(new URL(path, address)).catch(() => null);
  const found = response?.ok === true && !response.headers.get('content-type')?.startsWith('text/html');
  return found ? response.arrayBuffer() : null;
}
