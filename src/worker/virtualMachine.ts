import address from 'quickjs-wasi/quickjs.wasm?url';

let loading: Promise<ArrayBuffer> | null = null;

/**
 * Returns the bytes of QuickJS, the virtual machine in which a person's environment runs. Loads it at the first call.
 * Throws Error if it cannot be loaded.
 */
export function virtualMachine(): Promise<ArrayBuffer> {
  loading ??= fetchMachine().catch((error: unknown) => {
    loading = null; // so that the next call tries again
    throw error;
  });
  return loading;
}

async function fetchMachine(): Promise<ArrayBuffer> {
  const response = await fetch(address);
  if (!response.ok) throw new Error(`The sandbox for environments could not be loaded (${response.status}).`);
  return response.arrayBuffer();
}
