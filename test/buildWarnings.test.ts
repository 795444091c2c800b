import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { build, createLogger } from 'vite';
import { expect, test } from 'vitest';
import { pyodide } from '../tools/pyodide-plugin.ts';

test('the bundler warns of `eval` in the project’s code, and not of the one in Pyodide', async () => {
  const root = mkdtempSync(path.join(tmpdir(), 'warnings-'));
  symlinkSync(path.resolve('node_modules'), path.join(root, 'node_modules'), 'junction');
  writeFileSync(
    path.join(root, 'main.js'),
    `import create from 'pyodide/pyodide.asm.mjs';\nexport const made = [create, (text) => eval(text)];`,
  );
  const warnings: string[] = [];
  const customLogger = createLogger('warn');
  customLogger.warn = (message) => void warnings.push(message);
  const entry = path.join(root, 'main.js');
  const rolldownOptions = { checks: { pluginTimings: false } };
  await build({
    ...{ root, configFile: false, customLogger, plugins: [pyodide()] },
    build: { lib: { entry, formats: ['es'] }, write: false, minify: false, rolldownOptions },
  });
  rmSync(root, { recursive: true, force: true });
  expect(warnings).toEqual([expect.stringMatching(/EVAL[\s\S]*main\.js/)]);
});
