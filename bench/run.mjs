// npm run bench [-- --json] [--only W1,G1,U1] [--in node,page] [--seconds 10] [--variant NAME] [--storage f32|f16]
//   [--slabs N]
// npm run bench -- page
// npm run bench -- --scaling [--json] [--seconds 10] …
// Times the engine in Node (Dawn) and in headless Chromium: training steps at three sizes (W), batched generation (G1), whole
// updates of the RL loop at those sizes (U), and what the adapter could do at best, measured in the same run; or, in Node, how a
// training step grows with each size. `page` times the page itself: first paint, input to paint, longest tasks, beside their aims.
import { spawn, spawnSync } from 'node:child_process';
import { createServer } from 'node:http';
import { readFileSync, rmSync } from 'node:fs';
import path from 'node:path';
import { chromium } from 'playwright';
import { launchOptions, useSwiftShader } from '../scripts/browser.mjs';
import { helpIfAsked, scriptFlags } from '../scripts/usage.mjs';
import { bundle, root } from './bundle.mjs';
import { scalingTable, table } from './table.mjs';

/** @typedef {Awaited<ReturnType<typeof import('./measure.mjs').measure>>} Result */

const WORKLOADS = ['W1', 'W2', 'W3', 'G1', 'U1', 'U2', 'U3'];
const DEFAULTS = { only: WORKLOADS.join(','), in: 'node,page', seconds: '10', variant: '', storage: 'f32', slabs: '' };
const FLAGS = /** @type {const} */ ({
  json: 'switch',
  scaling: 'switch',
  only: 'value',
  in: 'value',
  seconds: 'value',
  variant: 'value',
  storage: 'value',
  slabs: 'value',
});

function read() {
  const flags = { json: false, scaling: false, ...DEFAULTS, ...scriptFlags(import.meta.url, FLAGS).given };
  const known = { only: WORKLOADS, in: ['node', 'page'] };
  for (const flag of /** @type {const} */ (['only', 'in'])) {
    const stray = flags[flag].split(',').find((one) => !known[flag].includes(one));
    if (stray !== undefined)
      throw new Error(`bench: --${flag} can’t be ${stray}. Use some of ${known[flag].join(',')}.`);
  }
  if (!['f32', 'f16'].includes(flags.storage))
    throw new Error(`bench: --storage can’t be ${flags.storage}. Use f32 or f16.`);
  if (flags.slabs !== '' && !/^[1-9]\d?$/.test(flags.slabs))
    throw new Error(`bench: --slabs can’t be ${flags.slabs}. Use a number from 1 to 99.`);
  if (!/^(?:\d+\.?\d*|\.\d+)$/.test(flags.seconds) || !(Number(flags.seconds) > 0))
    throw new Error(`bench: --seconds can’t be ${flags.seconds}. Use a number above 0.`);
  return flags;
}

/** What a bundled program prints. @param {string} file @param {string} options JSON @returns {Promise<unknown>} */
function inNode(file, options) {
  if (process.platform === 'linux' && process.env['GPU_ADAPTER'] !== 'hardware') useSwiftShader();
  const child = spawn(process.execPath, [file, options], { cwd: root, stdio: ['ignore', 'pipe', 'inherit'] });
  return new Promise((resolve, reject) => {
    let text = '';
    child.stdout.on('data', (/** @type {Buffer} */ chunk) => (text += chunk.toString()));
    child.on('exit', (code) => {
      if (code === 0) resolve(JSON.parse(text));
      else reject(new Error(`bench in Node ended with ${code ?? 'a signal'}: ${text.slice(-400)}`));
    });
  });
}

/** @param {string} file @param {string} options JSON @returns {Promise<Result>} */
async function inPage(file, options) {
  const script = readFileSync(file);
  const server = createServer((request, response) => {
    const isScript = request.url === '/bundle.js';
    response.setHeader('content-type', isScript ? 'text/javascript' : 'text/html');
    response.end(isScript ? script : '<!doctype html><title>bench</title>');
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(undefined)));
  const address = server.address();
  const port = typeof address === 'object' && address ? address.port : 0;
  const browser = await chromium.launch({ ...launchOptions(), headless: true });
  try {
    const page = await browser.newPage();
    page.setDefaultTimeout(0);
    await page.goto(`http://127.0.0.1:${port}/`);
    const run = `import('/bundle.js').then(({ measure }) => measure(navigator.gpu, ${options}))`;
    return /** @type {Result} */ (await page.evaluate(run));
  } finally {
    await browser.close();
    server.close();
  }
}

const args = process.argv.slice(2);
helpIfAsked(import.meta.url);
if (args[0] === 'page') {
  const vitest = path.join(root, 'node_modules/vitest/vitest.mjs');
  const { status } = spawnSync(process.execPath, [vitest, 'run', '--mode', 'bench', ...args.slice(1)], {
    cwd: root,
    stdio: 'inherit',
  });
  process.exit(status ?? 1);
}
const cache = path.join(root, 'node_modules/.cache', `bench-${process.pid}`);
try {
  const flags = read();
  const { variant, storage, slabs } = flags;
  const options = JSON.stringify({
    ...{ seconds: Number(flags.seconds), only: flags.only.split(',') },
    ...(variant ? { variant } : {}),
    storage,
    ...(slabs ? { slabs: Number(slabs) } : {}),
  });
  /** @type {Record<string, unknown>} */
  const results = {};
  if (flags.scaling) {
    const rows = await inNode(await bundle('scaling.mjs', path.join(cache, 'scaling'), true), options);
    results['scaling'] = rows;
    if (!flags.json) console.log(scalingTable(/** @type {readonly import('./table.mjs').Growth[]} */ (rows)));
  }
  for (const place of flags.scaling ? [] : flags.in.split(',')) {
    const node = place === 'node';
    const file = await bundle(node ? 'node.mjs' : 'measure.mjs', path.join(cache, place), node);
    results[place] = await (node ? inNode(file, options) : inPage(file, options));
    if (!flags.json) console.log(table(place, /** @type {Result} */ (results[place])));
  }
  if (flags.json) console.log(JSON.stringify({ date: new Date().toISOString(), options, results }, null, 1));
} catch (error) {
  console.error(error instanceof Error ? error.message : String(error));
  process.exitCode = 1;
} finally {
  rmSync(cache, { recursive: true, force: true });
}
