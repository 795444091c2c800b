// The CPU backend of peerPage.mjs: answers one call after another.
import HelperWorker from '../src/worker/helper.ts?worker&inline';
import { threadsFor } from '../src/model/cpu/team/threads.ts';
import { setup } from './peer.mjs';

/** Threads of this worker, as many as the product takes on this machine. */
function threads() {
  const isolated = globalThis.crossOriginIsolated;
  const count = isolated ? threadsFor(navigator.hardwareConcurrency) : 1;
  /** @type {import('../src/model/cpu/team/threads.ts').Threads['start']} */
  const start = (task) => {
    const helper = new HelperWorker();
    const started = new Promise((resolve) => {
      helper.onmessage = () => resolve(true);
      helper.onerror = () => resolve(false);
    });
    helper.postMessage(task);
    return { started: /** @type {Promise<boolean>} */ (started), end: () => helper.terminate() };
  };
  return { count, reason: isolated ? '' : 'the page is not cross-origin isolated', start };
}

/** @type {any} */
let peer = null;

/** @param {string} call @param {any} given */
async function answer(call, given) {
  if (call !== 'setup') return peer[call](given);
  peer = await setup(given.config, { ...given.ctx, threads: threads() });
  const { params, notes, generateNotes, policy } = peer;
  return { params, notes: `${notes}; ${policy.backend.adapter}`, generateNotes, draws: 'generate' in peer };
}

globalThis.addEventListener('message', async ({ data: { call, given } }) => {
  try {
    globalThis.postMessage({ found: await answer(call, given) });
  } catch (error) {
    globalThis.postMessage({ error: error instanceof Error ? error.message : String(error) });
  }
});
