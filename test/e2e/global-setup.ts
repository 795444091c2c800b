import { copyFile, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'vite';
import type { TestProject } from 'vitest/node';
import { servePage } from '../../scripts/page-server.mjs';

declare module 'vitest' {
  interface ProvidedContext {
    baseURL: string;
    site: string; // folder of the built page
  }
}

/**
 * Runs in a worker that trains, before its own script: while a run without an end goes on, it rests after each update for twice as long as
 * the update took, and `least` ms.
 */
function pace(least: number): void {
  if (typeof SharedArrayBuffer === 'undefined') return; // without it nothing can wait in a worker
  const never = new Int32Array(new SharedArrayBuffer(4));
  let [endless, stepping, began] = [false, false, 0];
  addEventListener('message', ({ data }: MessageEvent<{ type?: string; config?: { updates: number } }>) => {
    if (data.type === 'start') endless = (data.config?.updates ?? 0) >= 1000;
    if (data.type === 'run' || data.type === 'step') [stepping, began] = [data.type === 'step', performance.now()];
  });
  const post = globalThis.postMessage.bind(globalThis);
  const postAndRest = (message: { type?: string }, ...rest: unknown[]) => {
    Reflect.apply(post, globalThis, [message, ...rest]);
    if (!endless || stepping || message.type !== 'metrics') return;
    Atomics.wait(never, 0, 0, Math.max(least, Math.min(2 * (performance.now() - began), 1000)));
    began = performance.now();
  };
  Object.assign(globalThis, { postMessage: postAndRest });
}
const REST_MS = 200;

/** Builds the page as it ships and serves it, and beside its workers the fake one of test/ui and one that is paced. Once, whichever projects run together. */
export default async function setup({ vitest }: TestProject) {
  const project = vitest.getRootProject(); // what it provides all have
  if ('baseURL' in project.getProvidedContext()) return undefined;
  const folder = await mkdtemp(path.join(tmpdir(), 'rollout-playground-'));
  const site = path.join(folder, 'site');
  // a test run's NODE_ENV would bundle the development build of React
  const before = process.env['NODE_ENV'];
  process.env['NODE_ENV'] = 'production';
  await build({ logLevel: 'warn', build: { outDir: site, emptyOutDir: true } });
  await build({
    configFile: false,
    logLevel: 'warn',
    publicDir: false,
    build: {
      outDir: path.join(folder, 'fake'),
      emptyOutDir: true,
      lib: {
        entry: fileURLToPath(new URL('../ui/fake-worker.ts', import.meta.url)),
        formats: ['es'],
        fileName: 'fake-worker',
      },
    },
  });
  if (before !== undefined) process.env['NODE_ENV'] = before;
  await copyFile(path.join(folder, 'fake', 'fake-worker.js'), path.join(site, 'assets', 'fake-worker.js'));
  const assets = path.join(site, 'assets');
  const worker = (await readdir(assets)).find((name) => /^worker-[^/]*\.js$/.test(name));
  await writeFile(path.join(assets, 'pace.js'), `(${pace.toString()})(${REST_MS});`);
  await writeFile(path.join(assets, 'paced-worker.js'), `import './pace.js';\nimport './${worker}';\n`);
  project.provide('site', site);
  const server = await servePage(site, { host: '127.0.0.1', port: 0 });
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the server has no port');
  project.provide('baseURL', `http://127.0.0.1:${address.port}/`);
  return async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
    await rm(folder, { recursive: true, force: true });
  };
}
