import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Browser } from 'playwright';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { notebookViewer } from '../../tools/pythonPackage.mjs';
import { isWeekly } from '../weekly.ts';
import { DESKTOP, launch, PATIENCE_MS } from './lab.ts';

let browser: Browser;
let viewer = '';
beforeAll(async () => {
  [browser, viewer] = await Promise.all([launch('no adapter'), notebookViewer()]);
});
afterAll(() => browser.close());

/** What VS Code lets the output of a notebook load, where its setting `notebook.experimental.enableCsp` is on. JupyterLab allows more. */
const VSCODE_POLICY =
  "default-src 'none'; script-src 'self' 'unsafe-inline' 'unsafe-eval'; style-src 'self' 'unsafe-inline'; img-src 'self' https: http: data:; connect-src https:; child-src https: data:";
const WIDGET = readFileSync('python/src/rollout_playground/widget.js', 'utf8').replace(
  'export default',
  'const widget =',
);
const FILES = ['verl-v1/2.jsonl', 'cases/zstd/2.jsonl.zst', 'cases/a9/completions_brotli.parquet'];
const CHUNK = 1000; // bytes: most files come in several

/** A notebook's page with one output: `kernel` answers what the widget asks, as python/src/rollout_playground/widget.py does. */
async function notebook(sizes: readonly number[], kernel: (file: number, from: number) => object) {
  const page = await browser.newPage({ viewport: { width: 1000, height: 700 } });
  const problems: string[] = [];
  page.on('pageerror', ({ message }) => problems.push(message));
  page.on('console', (message) => void (message.type() === 'error' && problems.push(message.text())));
  await page.exposeFunction('kernel', kernel);
  const files = sizes.map((size, i) => ({ path: FILES[i], size }));
  const values = JSON.stringify({ page: viewer, files, height: 640 }).replaceAll('<', '\\u003C');
  const html = `<!doctype html><meta http-equiv="Content-Security-Policy" content="${VSCODE_POLICY}"><body style="background: #1e1e1e">
    <div id="output"></div><script type="module">${WIDGET}
      let hear;
      const send = async (asked) => {
        const { data, problem } = await kernel(asked.file, asked.from);
        hear({ ...asked, ...(problem && { problem }) }, data ? [new DataView(Uint8Array.from(atob(data), (c) => c.charCodeAt(0)).buffer)] : []);
      };
      const values = ${values};
      widget.render({ model: { get: (name) => values[name], send, on: (_, to) => (hear = to), off: () => {} }, el: document.getElementById('output') });
    </script></body>`;
  await page.route('https://notebook.example/', (route) =>
    route.fulfill({ contentType: 'text/html; charset=utf-8', body: html }),
  );
  await page.goto('https://notebook.example/');
  return { page, problems, viewer: page.frameLocator('iframe[title="Rollouts"]') };
}

test('a notebook’s output shows the files that the kernel sends in chunks, also by VS Code’s policy, and after its frame was moved', async () => {
  const contents = FILES.map((file) => readFileSync(`test/fixtures/rollouts/${file}`));
  let asked = 0;
  const {
    page,
    problems,
    viewer: shown,
  } = await notebook(
    contents.map(({ length }) => length),
    (file, from) => {
      asked++;
      return { data: contents[file]!.subarray(from, from + CHUNK).toString('base64') };
    },
  );
  await expect
    .poll(() => shown.getByTestId('rollouts-read').textContent())
    .toBe('8 rollouts · TRL completions, verl · 2.7 kB');
  await shown.getByTestId('record').waitFor();
  await shown.getByRole('button', { name: 'Two steps' }).waitFor();
  expect(await shown.getByRole('button', { name: /^(?:Try this here|Close)$/ }).count()).toBe(0); // they lead to other screens
  expect(asked).toBe(contents.reduce((sum, { length }) => sum + Math.ceil(length / CHUNK), 0));
  const frame = page.frames().at(-1)!;
  expect(await frame.evaluate(() => document.documentElement.dataset['theme'])).toBe('dark'); // as the notebook's background
  // what a rollout holds can't reach the notebook
  expect(await frame.evaluate(() => globalThis.origin)).toBe('null');
  await page.evaluate(() => document.body.append(document.getElementById('output')!));
  await shown.getByTestId('record').waitFor();
  expect(asked).toBe(contents.reduce((sum, { length }) => sum + Math.ceil(length / CHUNK), 0)); // what has come is kept
  expect(problems).toEqual([]);
  await page.close();
});

test('a file that the kernel can’t read, or that became shorter, is said in place of the rollouts', async () => {
  const gone = await notebook([9], () => ({ problem: 'one.jsonl can’t be read now: Permission denied.' }));
  await gone.viewer.getByText('one.jsonl can’t be read now: Permission denied.').waitFor();
  const shorter = await notebook([9], (_, from) => (from === 0 ? { data: btoa('{"a"') } : { data: '' }));
  await shorter.viewer.getByText('has become shorter. Run the cell again.').waitFor();
  await Promise.all([gone.page.close(), shorter.page.close()]);
});
/** Writes this many rollouts as verl does, about 3 kB each, in steps of 32. */
function writeRollouts(file: string, count: number): void {
  const words = (from: number, length: number) =>
    Array.from({ length }, (_, i) => `word${(from + i * 7) % 997}`).join(' ');
  const lines = Array.from({ length: count }, (_, i) => {
    const output = `<think>${words(i, 330)}</think><search>${words(i, 5)}</search><information>${words(i, 60)}</information><answer>${i}</answer>`;
    return `${JSON.stringify({ input: `user\n${words(i >> 3, 40)}\nassistant\n`, output, score: (i % 8) / 8, step: i >> 5 })}\n`;
  });
  writeFileSync(file, lines.join(''));
}

test('JupyterLab shows 50 MB of rollouts, the package installed from its wheel on a path with blanks', async ({
  skip,
}) => {
  skip(!isWeekly, 'CI has the viewer above and the package in test/python/test_wheel.py: npm run test:weekly');
  const folder = path.join(mkdtempSync(path.join(tmpdir(), 'jupyter-')), 'a folder with blanks');
  const environment = path.join(folder, 'environment');
  const python = path.join(environment, 'bin/python');
  const notebooks = path.join(folder, 'notebooks');
  mkdirSync(notebooks, { recursive: true });
  execFileSync('python3', ['-m', 'venv', environment]);
  const install = (...packages: string[]) =>
    execFileSync(python, ['-m', 'pip', 'install', '--quiet', '--no-compile', ...packages]); // most modules are never imported
  install('hatchling==1.33.0');
  const wheel = ['scripts/wheel.mjs', '--page', inject('site'), '--out', folder, '--python', python];
  execFileSync(process.execPath, wheel, { stdio: 'ignore' });
  const wheels = readdirSync(folder).filter((file) => file.endsWith('.whl'));
  install(...wheels.map((file) => path.join(folder, file)), 'jupyterlab==4.6.6');
  const ROLLOUTS = 16_000;
  writeRollouts(path.join(notebooks, 'rollouts.jsonl'), ROLLOUTS);
  expect(statSync(path.join(notebooks, 'rollouts.jsonl')).size).toBeGreaterThan(50e6);
  const cell = { cell_type: 'code', execution_count: null, id: 'one', metadata: {}, outputs: [] };
  const kernelspec = { display_name: 'Python 3', language: 'python', name: 'python3' };
  const source = "from rollout_playground import view\nview('rollouts.jsonl')";
  const content = { cells: [{ ...cell, source }], metadata: { kernelspec }, nbformat: 4, nbformat_minor: 5 };
  writeFileSync(path.join(notebooks, 'one.ipynb'), JSON.stringify(content));
  const options = ['--no-browser', '--allow-root', '--ServerApp.port=0', '--IdentityProvider.token='];
  const env = { ...process.env, HOME: folder, JUPYTER_PREFER_ENV_PATH: '1' }; // nobody's own settings
  const jupyter = spawn(python, ['-m', 'jupyterlab', ...options], { cwd: notebooks, env });
  try {
    const address = await new Promise<string>((resolve, reject) => {
      let said = '';
      jupyter.on('exit', () => reject(new Error(`JupyterLab ended: ${said}`)));
      jupyter.stderr.on('data', (text) => {
        said += String(text);
        const found = /http:\/\/\S+:[1-9]\d*\/lab/.exec(said);
        if (found) resolve(found[0]);
      });
    });
    const page = await browser.newPage({ viewport: DESKTOP });
    page.setDefaultTimeout(PATIENCE_MS);
    await page.goto(`${address}/tree/one.ipynb`);
    await page.locator('.jp-CodeCell .cm-content').first().click();
    await page.locator('.jp-Notebook-ExecutionIndicator[data-status="idle"]').waitFor();
    await page.keyboard.press('Shift+Enter');
    const shown = page.frameLocator('iframe[title="Rollouts"]');
    await shown.getByTestId('record').waitFor();
    await expect
      .poll(() => shown.getByTestId('rollouts-read').textContent())
      .toMatch(/^16 k rollouts · verl · 5\d(?:\.\d)? MB$/);
    await shown.getByRole('listbox', { name: /^Rollouts/ }).press('End');
    await shown.getByRole('heading', { name: `Rollout ${ROLLOUTS - 1}` }).waitFor();
    await page.close();
  } finally {
    const ended = jupyter.exitCode === null ? once(jupyter, 'exit') : undefined;
    jupyter.kill('SIGTERM');
    await ended;
    rmSync(path.dirname(folder), { recursive: true, force: true });
  }
});
