import library from 'pyodide/python_stdlib.zip?url';
import pythonWasm from 'pyodide/pyodide.asm.wasm?url';
import { bareRealm } from './written/python/bareRealm.ts';
import playground from './written/python/episodes.py?raw';
import { addPyodideGlobals, serveForever, startPython } from './written/python/interpreter.ts';
import { receiveText, Place, sendText, channelSide, waitForever } from './written/python/sharedChannel.ts';

/** The worker that runs Python. It fetches Python's files, then removes its own access to the outside. */
async function start(shared: SharedArrayBuffer): Promise<void> {
  const post = globalThis.postMessage.bind(globalThis);
  const now = performance.now.bind(performance);
  try {
    const files = { pythonWasm: await bytesOf(pythonWasm), library: await bytesOf(library), playground };
    const kept = await keptSnapshot();
    bareRealm();
    addPyodideGlobals(files, now);
    // it inspects its environment while it loads
    const { loadPyodide, createPyodideModule } = await import('./written/python/pyodide.ts');
    const talk = channelSide('thread', shared);
    const python = { loadPyodide, createPyodideModule };
    let started;
    try {
      started = await startPython(python, playground, talk, Place, kept.earlier);
    } catch (error) {
      await kept.forget(); // the next start begins from nothing
      throw error;
    }
    const { answer, snapshot } = started;
    if (snapshot) await kept.keep(snapshot);
    post('begun');
    serveForever(answer, { sendText, receiveText, waitForever }, talk);
  } catch (error) {
    post(String(error));
  }
}

/** Python's memory as it was when it first started: 31 MB, from which every later start, on later visits too, takes a seventh of the time. */
interface KeptSnapshot {
  readonly earlier: Uint8Array<ArrayBuffer> | null;
  readonly keep: (snapshot: Uint8Array<ArrayBuffer>) => Promise<unknown>;
  readonly forget: () => Promise<unknown>;
}

/** Takes hold of the browser's storage, which Python's worker has no way to after that; nothing is kept where the browser keeps nothing. */
async function keptSnapshot(): Promise<KeptSnapshot> {
  const { caches, Response } = globalThis;
  try {
    // one origin may have several of these pages: none deletes what another keeps
    const cache = await caches.open(`python-snapshot ${new URL('.', location.href).href}`);
    const found = await cache.match(pythonWasm); // its address has a hash of what it is
    return {
      earlier: found ? new Uint8Array(await found.arrayBuffer()) : null,
      keep: async (snapshot) => {
        for (const old of await cache.keys()) await cache.delete(old);
        await cache.put(pythonWasm, new Response(snapshot)).catch(() => undefined); // no room
      },
      forget: () => cache.delete(pythonWasm),
    };
  } catch {
    const doNothing = () => Promise.resolve();
    return { earlier: null, keep: doNothing, forget: doNothing };
  }
}

async function bytesOf(address: string): Promise<ArrayBuffer> {
  const response = await fetch(address);
  if (!response.ok) throw new Error(`${address} could not be loaded (${response.status}).`);
  return response.arrayBuffer();
}

globalThis.addEventListener('message', ({ data }: MessageEvent<SharedArrayBuffer>) => void start(data), { once: true });
