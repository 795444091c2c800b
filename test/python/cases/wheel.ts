import { execFileSync } from 'node:child_process';

/** Builds the wheel into the folder that it is given. */
const [, , out = ''] = process.argv;
const python = process.env['PYTHON'] ?? 'python3';
execFileSync(process.execPath, ['scripts/wheel.mjs', '--out', out, '--python', python], { stdio: 'inherit' });
