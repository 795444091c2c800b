// npm run test:weekly: every test, also those that CI leaves out (WEEKLY in vitest.config.ts), all drills, other browsers and engines, and the
// slow comparisons with Python packages. It goes on after a failure and ends with 1.
import { spawnSync } from 'node:child_process';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { helpIfAsked } from './usage.mjs';

helpIfAsked(import.meta.url);
const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '..');
const vitest = path.join(root, 'node_modules/vitest/vitest.mjs');
const browsers = path.join(root, 'tools/browsers.vitest.config.ts');
const PARTS = [
  [vitest, 'run', '--mode', 'weekly', '--project=!dawn'],
  [vitest, 'run', '--config', browsers],
  ['scripts/python.mjs', '--slow'],
];
const failed = PARTS.filter((args) => {
  const { status } = spawnSync(process.execPath, args, { cwd: root, stdio: 'inherit' });
  return status !== 0;
});
for (const args of failed)
  console.error(
    `Failed: node ${args.map((each) => (path.isAbsolute(each) ? path.relative(root, each) : each)).join(' ')}`,
  );
process.exitCode = failed.length > 0 ? 1 : 0;
