import { EvalFlags, JSException, QuickJS, type JSValueHandle } from 'quickjs-wasi';
import { visible } from '../base/visible.ts';
// oxlint-disable-next-line import/default -- `?raw` imports a file's text as the default
import rngSource from '../base/rng.ts?raw';
import { type Declaration, EnvironmentFileError, erased } from './declaration.ts';
import inside from './inside.js?raw';

/** Seed and two counters of `random` in src/base/rng.ts. */
export type ChanceKey = readonly [seed: number, a: number, b: number];

/** What is asked of the sandbox, for one episode each. `chance` is the key of its random numbers. */
export type Request =
  | {
      readonly op: 'open';
      readonly id: number;
      readonly split: 'train' | 'test';
      readonly index: number;
      readonly chance: ChanceKey;
    }
  | { readonly op: 'call'; readonly id: number; readonly tool: string; readonly values: readonly unknown[] }
  | { readonly op: 'answer'; readonly id: number; readonly text: string }
  | { readonly op: 'expert'; readonly id: number; readonly chance: ChanceKey }
  | { readonly op: 'reward' | 'close'; readonly id: number };

/** What came of a request; `problem` is a fault of the environment, and then nothing else is there but its line. */
export interface Reply {
  readonly problem?: string;
  readonly line?: number | null;
  readonly text?: string;
  /** Characters there were, where a text was cut. */
  readonly cut?: number;
  /** A tool turned the call down, in these words. */
  readonly refused?: string;
  /** It did so by an error that programs make by mistake. */
  readonly bug?: boolean;
  readonly over?: boolean;
  readonly paid?: number;
  readonly parts?: Readonly<Record<string, number>>;
  readonly none?: boolean;
  readonly tool?: string;
  readonly answer?: string;
  readonly values?: unknown;
}

/** What the class says in its static fields, as it says it. */
export interface Statics {
  readonly tasks?: unknown;
  readonly maxTurns?: unknown;
  readonly weights?: unknown;
}

/** A person's environment in a virtual machine of its own: no page, network, files, clock or chance of its own. */
export interface Sandbox {
  readonly statics: Statics;
  /** Serves requests in order, in one crossing; one reply each. Throws where the virtual machine itself is beyond help. */
  serve(requests: readonly Request[]): readonly Reply[];
  dispose(): void;
}

export interface SandboxLimits {
  /** Work that one call may do, in units of ten thousand calls and turns of loops: a count, so it is the same on every machine. */
  readonly work: number;
  readonly memoryBytes: number;
  readonly stackBytes: number;
}

export const LIMITS: SandboxLimits = { work: 200, memoryBytes: 64e6, stackBytes: 256 * 1024 };

const FILE = 'environment.ts';
const TOO_LONG = 'computed too long and was stopped.';

/** The three programs that a machine runs, each a function: the project's random numbers, what serves requests, the environment. */
export function machinePrograms(code: string): Readonly<Record<'rng' | 'playground' | 'environment', string>> {
  return {
    rng: `(function (exports) { ${erased(rngSource)}\n})`,
    playground: inside,
    environment: `(function (exports) { 'use strict'; ${code}\n})`,
  };
}

/**
 * Opens a virtual machine (QuickJS, compiled to WebAssembly) and loads an environment into it. `wasm` is the machine, as
 * `quickjs-wasi/quickjs.wasm` has it. Throws EnvironmentFileError where the file fails as it is loaded.
 */
export async function openSandbox(
  wasm: BufferSource | WebAssembly.Module,
  { code }: Declaration,
  limits: SandboxLimits = LIMITS,
): Promise<Sandbox> {
  let done = 0;
  const vm = await QuickJS.create({
    wasm,
    memoryLimit: limits.memoryBytes,
    maxStackSize: limits.stackBytes,
    timezoneOffset: 0,
    interruptHandler: () => ++done > limits.work,
    wasi: (memory) => ({
      // no clock and no chance: the same bytes in every machine
      clock_time_get: (_id: number, _precision: bigint, at: number) => (
        new DataView(memory.buffer).setBigUint64(at, 0n, true),
        0
      ),
      random_get: (at: number, length: number) => (new Uint8Array(memory.buffer, at, length).fill(1), 0),
      fd_write: () => 0,
    }),
  });
  const rng = vm.newObject();
  const programs = machinePrograms(code);
  vm.callFunction(vm.evalCode(programs.rng, 'rng.js'), vm.undefined, rng).dispose();
  const own = vm.callFunction(vm.evalCode(programs.playground, 'playground.js'), vm.undefined, rng);
  const part = (name: string) => own.getProp(name);
  const [close, take, serveInside] = [part('close'), part('take'), part('serve')];
  const begin = vm.newFunction('begin', () => {
    done = 0;
    return vm.undefined;
  });
  const load = (): Statics => {
    done = 0;
    try {
      vm.callFunction(close, vm.undefined, vm.global).dispose();
      const run = vm.evalCode(programs.environment, FILE, EvalFlags.STRICT);
      const exported = vm.newObject();
      vm.callFunction(run, vm.undefined, exported).dispose();
      return JSON.parse(vm.callFunction(take, vm.undefined, exported, vm.newString(FILE)).toString()) as Statics;
    } catch (error) {
      throw loadError(error);
    }
  };
  let statics: Statics;
  try {
    statics = load();
  } catch (error) {
    vm.dispose();
    throw error;
  }
  const crossing = (text: JSValueHandle, why: JSValueHandle, line: JSValueHandle): string | Error => {
    done = 0;
    try {
      const reply = vm.callFunction(serveInside, vm.undefined, text, why, line, begin);
      const told = reply.toString();
      reply.dispose();
      return told;
    } catch (error) {
      return error instanceof Error ? error : new Error(String(error));
    }
  };
  return {
    statics,
    serve(requests) {
      const text = vm.newString(JSON.stringify(requests));
      let told = crossing(text, vm.undefined, vm.null);
      text.dispose();
      // each time one more request is behind it, so it ends
      for (let stops = 0; typeof told !== 'string' && stops <= requests.length; stops++) {
        const why = vm.newString(told.message.includes('interrupted') ? TOO_LONG : `was stopped: ${told.message}.`);
        const line = lineOf(told);
        const at = line === null ? vm.null : vm.newNumber(line);
        told = crossing(vm.undefined, why, at);
        for (const handle of [why, at]) handle.dispose();
      }
      if (typeof told !== 'string') throw told;
      return JSON.parse(told) as readonly Reply[];
    },
    dispose: () => vm.dispose(),
  };
}

function loadError(error: unknown): EnvironmentFileError {
  const message = error instanceof Error ? error.message : String(error);
  const what = message.includes('interrupted')
    ? `The file ${TOO_LONG}`
    : `The file cannot be loaded: ${visible(message)}`;
  return new EnvironmentFileError(what, lineOf(error));
}

/** The line of the environment's file that a stack names first. */
function lineOf(error: unknown): number | null {
  const stack = error instanceof JSException ? (error.stack ?? '') : '';
  const line = /environment\.ts:(\d+)/.exec(stack)?.[1];
  return line === undefined ? null : Number(line);
}
