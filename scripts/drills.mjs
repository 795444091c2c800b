// npm run drills: takes runs away in all the ways of drills.test.ts and recovery.test.ts in test/e2e; CI has those of recovery.
import { spawn } from 'node:child_process';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { helpIfAsked } from './usage.mjs';

helpIfAsked(import.meta.url);
const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '..');
const vitest = path.join(root, 'node_modules/vitest/vitest.mjs');
const drills = ['drills', 'recovery'].map((name) => `test/e2e/${name}.test.ts`);
const args = [vitest, 'run', '--mode', 'weekly', '--project', 'e2e', ...drills, ...process.argv.slice(2)];
const run = spawn(process.execPath, args, { cwd: root, stdio: 'inherit', env: { ...process.env, DRILLS: 'all' } });
run.on('exit', (code) => process.exit(code ?? 1));
