import { machinePrograms } from '../written/script/sandbox.ts';
import { meteredWasm } from '../written/script/meteredMachine.ts';
import machineModule from './python/playground_machine.py?raw';
import machineLicence from './python/machine_licence.txt?raw';

/** The versions of the packages that every folder is tested with. */
export const WASMTIME_VERSION = '50.0.1';

/**
 * The virtual machine of a folder, by name: QuickJS, the programs that it runs, and `playground_machine.py`, which runs
 * it in Python. `environment` is the environment's program and `rules` is what Python and the program read of it.
 * `quickjsWasm` holds the bytes of `quickjs-wasi/quickjs.wasm`.
 */
export function machineFiles(
  environment: string,
  rules: object,
  quickjsWasm: Uint8Array,
): ReadonlyMap<string, Uint8Array> {
  const programs = machinePrograms();
  const texts = {
    'playground_machine.py': machineModule,
    'machine/environment.json': `${JSON.stringify(rules, null, 2)}\n`,
    'machine/environment.js': environment,
    'machine/playground.js': programs.playground,
    'machine/rng.js': programs.rng,
    'machine/LICENSE': machineLicence,
  };
  const encoder = new TextEncoder();
  const files = Object.entries(texts).map(([name, text]) => [name, encoder.encode(text)] as const);
  return new Map([...files, ['machine/quickjs.wasm', meteredWasm(quickjsWasm)]]);
}
