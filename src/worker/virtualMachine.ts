import address from 'quickjs-wasi/quickjs.wasm?url';

let machine: Promise<ArrayBuffer> | null = null;

/** QuickJS, as bytes: the virtual machine in which a person's environment runs. It is loaded when it is first asked for. Throws Error where it cannot be. */
export function virtualMachine(): Promise<ArrayBuffer> {
  machine ??= fetched().catch((error: unknown) => {
    machine = null; // to be tried again
    throw error;
  });
  return machine;
}

async function fetched(): Promise<ArrayBuffer> {
  const response = await fetch(address);
  if (!response.ok) throw new Error(`The sandbox for environments could not be loaded (${response.status}).`);
  return response.arrayBuffer();
}
