// This project's side in a benchmark of engines in a page: bundle it with tools/cli.vite.config.ts, and the bundle is one script. As ../bench/peer.mjs, but with
// options.backend 'cpu' the policy computes in a worker on as many cores as the product takes, as in the page: threads that a page itself started could not
// be waited for.
import { setup as setupHere } from './peer.mjs';
import PeerWorker from './peerWorker.mjs?worker&inline';

export { name } from './peer.mjs';

/** @param {import('./peer.mjs').Workload} config @param {import('./peer.mjs').Context} ctx */
export async function setup(config, ctx) {
  if (ctx.options?.backend !== 'cpu') return setupHere(config, ctx);
  const worker = new PeerWorker();
  /** @type {(call: string, given?: unknown) => Promise<any>} */
  const ask = (call, given) =>
    new Promise((resolve, reject) => {
      worker.onmessage = ({ data: { found, error } }) =>
        error === undefined ? resolve(found) : reject(new Error(error));
      worker.onerror = ({ message }) => reject(new Error(message));
      worker.postMessage({ call, given });
    });
  const { x, y, want, generation, options } = ctx;
  const facts = await ask('setup', { config, ctx: { x, y, want, generation, options } });
  return {
    ...facts,
    step: (/** @type {{ read: boolean }} */ how) => ask('step', how),
    sync: () => ask('sync'),
    ...(facts.draws ? { generate: () => ask('generate') } : {}),
    dispose: async () => worker.terminate(),
  };
}
