// Draws in a page of headless Chromium: this project or wllama; run by ../drawing.mjs, in a process of its own. Prints a line of JSON.
import { createReadStream, existsSync, readdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import path from 'node:path';
import { chromium } from 'playwright';
import { launchOptions } from '../../scripts/browser.mjs';

/** @typedef {{ who: string, bundle: string, peers: string, model: string, prompt: string, rows: number, steps: number, threads: number }} Options */

const TICKS = 100; // a second, of the kernel's accounts

/** Processor seconds of a process and all that came of it. @param {number} top */
function processorSeconds(top) {
  const of = new Map();
  for (const name of readdirSync('/proc').filter((each) => /^\d+$/.test(each))) {
    try {
      const fields = readFileSync(`/proc/${name}/stat`, 'utf8')
        .replace(/^.*\) /, '')
        .split(' ');
      of.set(Number(name), { parent: Number(fields[1]), s: (Number(fields[11]) + Number(fields[12])) / TICKS });
    } catch {
      // it ended
    }
  }
  const belongs = (/** @type {number} */ id) => {
    for (let at = id; of.has(at); at = of.get(at).parent) if (at === top) return true;
    return false;
  };
  return [...of].reduce((sum, [id, { s }]) => sum + (belongs(id) ? s : 0), 0);
}

/** Serves the programs and the model, isolated, so that pages have threads. @param {Options} options */
async function serve({ bundle, peers, model }) {
  const wllama = path.join(peers, 'node_modules/@wllama/wllama/esm');
  const server = createServer((request, response) => {
    const asked = new URL(request.url ?? '/', 'http://localhost').pathname;
    const file = asked === '/model.gguf' ? model : asked === '/bundle.js' ? bundle : path.join(wllama, path.normalize(asked)); // prettier-ignore
    response.setHeader('cross-origin-opener-policy', 'same-origin');
    response.setHeader('cross-origin-embedder-policy', 'require-corp');
    const kind = { '.js': 'text/javascript', '.wasm': 'application/wasm' }[path.extname(asked)] ?? (asked === '/' ? 'text/html' : 'application/octet-stream'); // prettier-ignore
    response.setHeader('content-type', kind);
    if (asked === '/') response.end('<!doctype html><title>bench</title>');
    else if (existsSync(file)) createReadStream(file).pipe(response);
    else response.writeHead(404).end();
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(undefined)));
  const address = server.address();
  return `http://127.0.0.1:${typeof address === 'object' && address ? address.port : 0}/`;
}

/** This project, in a page. */
const own = async (/** @type {any} */ options) => {
  const { drawRows } = await import(/** @type {string} */ ('/bundle.js'));
  const bytes = new Uint8Array(await (await fetch('/model.gguf')).arrayBuffer());
  const read = (/** @type {number} */ from, /** @type {number} */ to) => Promise.resolve(bytes.slice(from, to));
  const clock = async () => [performance.now() / 1000, await /** @type {any} */ (globalThis).processorSeconds()];
  const stopwatch = async () => {
    const [s, cpuS] = await clock();
    return async () => {
      const [now, cpuNow] = await clock();
      return { s: now - s, cpuS: cpuNow - cpuS };
    };
  };
  return drawRows({ name: 'model.gguf', size: bytes.length, read }, options, stopwatch);
};

/** wllama: by its own account of how long it drew; what it took of processors is with reading the prompt. */
const wllama = async (/** @type {any} */ { prompt, rows, steps, threads }) => {
  const { Wllama } = await import(/** @type {string} */ ('/index.js'));
  const engine = new Wllama({ default: '/wasm/wllama.wasm' }, { suppressNativeLog: true });
  const file = await (await fetch('/model.gguf')).blob();
  await engine.loadModel([file], { n_ctx: rows * 128, n_parallel: rows, n_threads: threads, n_gpu_layers: 0, n_batch: 512 }); // prettier-ignore
  const cpu = () => /** @type {any} */ (globalThis).processorSeconds();
  const [began, cpuBegan] = [performance.now(), await cpu()];
  const all = await Promise.all(
    Array.from({ length: rows }, () =>
      engine.createCompletion({ prompt, max_tokens: steps + 1, temperature: 0, top_k: 1, ignore_eos: true }),
    ),
  );
  const [whole, cpuS] = [(performance.now() - began) / 1000, (await cpu()) - cpuBegan];
  const timings = all.map(({ timings }) => timings);
  const longest = Math.max(...timings.map(({ predicted_ms }) => predicted_ms)) / 1000;
  return {
    ...{
      backend: `wllama, ${engine.isMultithread() ? engine.getNumThreads() : 1} threads`,
      timings: timings[0],
      whole,
    },
    ...{ prompt: timings[0].prompt_n, took: { s: longest, cpuS }, read: { s: whole - longest } },
    ...{ count: timings.reduce((sum, { predicted_n }) => sum + predicted_n - 1, 0), text: all[0].choices[0].text },
  };
};

/** @type {Options} */
const options = JSON.parse(process.argv[2] ?? '{}');
const url = await serve(options);
const server = await chromium.launchServer({ ...launchOptions(), headless: true });
try {
  const browser = await chromium.connect(server.wsEndpoint());
  const page = await browser.newPage();
  page.setDefaultTimeout(0);
  const id = server.process().pid ?? 0;
  await page.exposeFunction('processorSeconds', () => processorSeconds(id));
  await page.goto(url);
  const found = /** @type {any} */ (await page.evaluate(options.who === 'wllama' ? wllama : own, options));
  console.log(JSON.stringify(found));
} finally {
  await server.close();
}
process.exit(0);
