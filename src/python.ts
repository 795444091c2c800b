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
    bareRealm();
    addPyodideGlobals(files, now);
    // it inspects its environment while it loads
    const { loadPyodide, createPyodideModule } = await import('./written/python/pyodide.ts');
    const talk = channelSide('thread', shared);
    const answer = await startPython({ loadPyodide, createPyodideModule }, playground, talk, Place);
    post('begun');
    serveForever(answer, { sendText, receiveText, waitForever }, talk);
  } catch (error) {
    post(String(error));
  }
}

async function bytesOf(address: string): Promise<ArrayBuffer> {
  const response = await fetch(address);
  if (!response.ok) throw new Error(`${address} could not be loaded (${response.status}).`);
  return response.arrayBuffer();
}

globalThis.addEventListener('message', ({ data }: MessageEvent<SharedArrayBuffer>) => void start(data), { once: true });
