import type { EnvironmentFile } from '../domain/environmentFile.ts';
import { isServerAddress } from '../domain/serverAddress.ts';
import type { Host } from '../session/host.ts';
import type { SocketHost } from '../openenv/serverConnection.ts';
import type { Runtimes } from '../written/languages.ts';
import { startWorker, workerFailure } from '../wire/startWorker.ts';
import type { StartPython } from '../written/python/pythonSandbox.ts';
import address from 'quickjs-wasi/quickjs.wasm?url';

/**
 * Returns the host function that opens the person's own environment, or the server that it names. The code for it is
 * only loaded then.
 */
export function ownEnvironmentOpener(file: EnvironmentFile): Pick<Required<Host>, 'ownEnvironment'> {
  return {
    ownEnvironment: async (speaking) => {
      if (isServerAddress(file.text)) {
        const { openServer } = await import('../openenv/openServer.ts');
        return openServer(file.text, PAGE_SOCKETS).environment(speaking);
      }
      const { openWritten } = await import('../written/openWritten.ts');
      return openWritten(file, PAGE_RUNTIMES).environment(speaking);
    },
  };
}

/**
 * The browser's sockets, for a server that plays the environment. The page's security policy only allows connections to
 * this machine.
 */
const PAGE_SOCKETS: SocketHost = {
  connect: (url) => new WebSocket(url),
  setTimer: (ms, ring) => {
    const timer = setTimeout(ring, ms);
    return () => clearTimeout(timer);
  },
};

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

/** Starts Python in its own worker, which loads it: 6 MB, once. */
const startPython: StartPython = (shared) => {
  const worker = startWorker(
    () => new Worker(new URL('../python.ts', import.meta.url), { type: 'module', name: 'python' }),
  );
  const begun = new Promise<void>((resolve, reject) => {
    worker.addEventListener(
      'message',
      ({ data }: MessageEvent<unknown>) => {
        if (data === 'begun') resolve();
        else reject(new Error(`Python could not be started: ${JSON.stringify(data)}`));
      },
      { once: true }, // later messages come from the person's file
    );
    worker.addEventListener(
      'error',
      (event) => {
        event.preventDefault();
        reject(new Error(workerFailure('Python', event)));
      },
      { once: true },
    );
  });
  worker.postMessage(shared);
  return { ready: begun, end: () => worker.terminate() };
};

export const PAGE_RUNTIMES: Runtimes = { quickjsWasm: virtualMachine, startPython };
