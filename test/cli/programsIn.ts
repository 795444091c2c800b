import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { bundled, type ProgramName } from './bundled.ts';

/** How a program ended, and all it said until its streams were closed. */
export interface Ended {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

/** Programs of src/cli, and a folder of the test's own that they are called from. */
export interface Programs {
  readonly at: (...names: readonly string[]) => string; // a path in the folder
  readonly start: (
    name: ProgramName,
    args: readonly string[],
    input?: string,
  ) => { readonly child: ChildProcess; readonly ended: Promise<Ended> };
  readonly remove: () => void;
}

/** Bundles the programs if no test file of this process has, and makes a folder to call them from. */
export async function programsIn(): Promise<Programs> {
  const folder = mkdtempSync(path.join(tmpdir(), 'programs-'));
  const bundleOf = await bundled();
  return {
    at: (...parts) => path.join(folder, ...parts),
    start: (name, args, input = '') => {
      const env = { ...process.env, CALLER_FOLDER: folder };
      const child = spawn(process.execPath, ['--', bundleOf(name), ...args], { env }); // as scripts/cli.mjs does;
      let [out, err] = ['', ''];
      child.stdout.on('data', (text) => (out += String(text)));
      child.stderr.on('data', (text) => (err += String(text)));
      child.stdin.end(input);
      const ended = new Promise<Ended>((resolve) => child.on('close', (code) => resolve({ code, out, err })));
      return { child, ended };
    },
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}
