import { EvalFlags, JSException, QuickJS, type JSValueHandle } from 'quickjs-wasi';
import type { WrittenView } from '../../domain/envView.ts';
import { visible } from '../../base/visible.ts';
// oxlint-disable-next-line import/default -- `?raw` imports a file's text as the default
import rngSource from '../../base/rng.ts?raw';
import { type Declaration, EnvironmentFileError, eraseTypes } from './declaration.ts';
import serverProgram from './inside.js?raw';
import { meteredWasm } from './meteredMachine.ts';
import type { SyntaxNode } from '@lezer/common';
import { parser } from '@lezer/javascript';
import { childrenOf, descendants, lineFinder } from './syntax.ts';

const isFunction = ({ name }: SyntaxNode) =>
  /^(?:ArrowFunction|MethodDeclaration|FunctionDeclaration|FunctionExpression)$/.test(name);
const isInner = (node: SyntaxNode) => isFunction(node) || node.name === 'ClassBody';
/** Matches what follows a name that is given a value. */
const GIVEN = /^\s*(?:(?:[-+*/%&|^]|\*\*|<<|>>>?|&&|\|\||\?\?)?=(?![=>])|\+\+|--)/;

/**
 * Adds to a file's JavaScript the statements that put what all episodes share into `exports.shared`, where inside.js
 * freezes and watches it: the variables outside of classes and functions, and the classes' private static fields. Each
 * is `[name, line, read]`. `line` is where a function gives it a new value, else where it's declared; 0 if it can't get
 * another value.
 *
 * Out of reach are a function's own variables, such as the `n` of `(() => { let n = 0; return () => n++; })()`, and
 * private fields of the objects that are shared. Changes there are seen only if the check's replay differs.
 */
function withSharedNames(code: string): string {
  const program = parser.parse(code).topNode;
  const lineOf = lineFinder(code);
  const text = ({ from, to }: SyntaxNode) => code.slice(from, to);
  const changes = new Map<string, number>(); // by name: the first line in a function that gives it a value
  for (const outer of [program, ...descendants(program, isFunction)].flatMap(childrenOf).filter(isFunction)) {
    for (const node of descendants(outer, () => false)) {
      if (!/^(?:VariableName|PrivatePropertyName)$/.test(node.name) || changes.has(text(node))) continue;
      const [before, after] = [code.slice(Math.max(0, node.from - 40), node.from), code.slice(node.to, node.to + 40)];
      if (GIVEN.test(after) || /(?:\+\+|--)[\w.]*$/.test(before)) changes.set(text(node), lineOf(node.from));
    }
  }
  const handOver = (read: string, line: number) =>
    `(exports.shared ??= []).push(["${read.replace('this.', '')}",${line},()=>${read}]);`;
  const declared = childrenOf(program).flatMap((statement) => {
    const isVariable = statement.name === 'VariableDeclaration';
    const isConstant = statement.firstChild?.name === 'const';
    const names = isVariable ? [...descendants(statement, isInner)] : childrenOf(statement);
    return names
      .filter(({ name }) => name === 'VariableDefinition' && statement.name.endsWith('Declaration'))
      .map((node) => {
        const line = changes.get(text(node)) ?? (isVariable ? lineOf(node.from) : 0);
        return handOver(text(node), isConstant ? 0 : line);
      });
  });
  let result = code;
  const bodies = [...descendants(program, isFunction)].filter(({ name }) => name === 'ClassBody');
  for (const body of bodies.toSorted((a, b) => b.to - a.to)) {
    const fields = body.getChildren('PropertyDeclaration').filter((field) => text(field).startsWith('static'));
    const names = fields.flatMap((field) => field.getChildren('PrivatePropertyDefinition'));
    const statements = names.map((node) =>
      handOver(`this.${text(node)}`, changes.get(text(node)) ?? lineOf(node.from)),
    );
    if (statements.length > 0)
      result = `${result.slice(0, body.to - 1)};static{${statements.join('')}}${result.slice(body.to - 1)}`;
  }
  return `${result}\n${declared.join('')}`;
}

/** Seed and two counters of `random` in src/base/rng.ts. */
export type RandomKey = readonly [seed: number, a: number, b: number];

/** A request to the sandbox about one episode. `chance` is the key of the episode's random numbers. */
export type Request =
  | {
      readonly op: 'open';
      readonly id: number;
      readonly split: 'train' | 'test';
      readonly index: number;
      readonly chance: RandomKey;
    }
  | { readonly op: 'call'; readonly id: number; readonly tool: string; readonly values: readonly unknown[] }
  | { readonly op: 'answer'; readonly id: number; readonly text: string }
  | { readonly op: 'expert'; readonly id: number; readonly chance: RandomKey }
  | { readonly op: 'observe'; readonly id: number; readonly history: readonly PastTurn[] }
  | { readonly op: 'reward' | 'close'; readonly id: number };

/** A past turn, as `observe(history)` gets it. */
export interface PastTurn {
  readonly tool: string;
  readonly arguments: Readonly<Record<string, unknown>>;
  readonly answer: string;
}

/** The reply to a request. If the environment has a fault, it has only `problem` and `line`. */
export interface Reply {
  readonly problem?: string;
  readonly line?: number | null;
  readonly text?: string;
  /** What `observe` returned after the call, if it was asked (observing.ts). */
  readonly observed?: string;
  /** The length of the text in characters, if it was cut. */
  readonly cut?: number;
  /** The message of the error that a tool threw. */
  readonly refused?: string;
  /** True if that error looks like a mistake in the code, such as a TypeError. */
  readonly bug?: boolean;
  readonly over?: boolean;
  /** The result of `turnReward()`. */
  readonly paid?: number;
  /** The result of `stateKey()` after the turn. */
  readonly state?: string;
  readonly parts?: Readonly<Record<string, number>>;
  /** True if the class does not have the requested method. */
  readonly none?: boolean;
  readonly tool?: string;
  readonly answer?: string;
  readonly values?: unknown;
  /** The result of `view()`, if the class has it. */
  readonly shown?: WrittenView;
}

/** The class's static fields, not checked yet. */
export interface Statics {
  readonly tasks?: unknown;
  readonly maxTurns?: unknown;
  readonly weights?: unknown;
}

/**
 * A person's environment in its own virtual machine. It can't reach the page, the network or files, and has no clock
 * and no random numbers of its own.
 */
export interface Sandbox {
  readonly statics: Statics;
  /**
   * Serves requests in order, in one call of the virtual machine, with one reply for each. If the virtual machine had
   * to be ended, every later reply says why.
   */
  serve(requests: readonly Request[]): readonly Reply[];
  /**
   * Calls `play`, and counts the work of the requests that it serves: calls and loop turns of the environment's code. The
   * number is the same on every machine, if all requests were.
   */
  counted<T>(play: () => T): { readonly result: T; readonly work: number };
  dispose(): void;
}

export interface SandboxLimits {
  /**
   * Most work that one call may do. Work is counted, so the limit is the same on every machine. A unit is ten thousand
   * calls and loop turns of the environment's code, or a million loop turns inside the virtual machine.
   */
  readonly work: number;
  readonly memoryBytes: number;
  /** Small enough to run out before the stack of the browser or of Node, because that would end the virtual machine. */
  readonly stackBytes: number;
}

const UNIT = 10_000; // calls and loop turns
export const LIMITS: SandboxLimits = { work: 200, memoryBytes: 64e6, stackBytes: 64 * 1024 };

const FILE = 'environment.ts';
const TOO_LONG = 'computed too long and was stopped.';
const WHERE: Readonly<Record<Request['op'], string>> = {
  open: 'reset()',
  call: 'A tool',
  answer: 'answer()',
  expert: 'expert()',
  observe: 'observe()',
  reward: 'getReward()',
  close: 'The end of an episode',
};

/** The programs that every virtual machine runs, each a function: the random numbers and the code that serves requests. */
export function machinePrograms(): Readonly<Record<'rng' | 'playground', string>> {
  return { rng: `(function (exports) { ${eraseTypes(rngSource)}\n})`, playground: serverProgram };
}

/** A person's environment as the third program of its virtual machine, a function too. */
export function environmentProgram(code: string): string {
  return `(function (exports) { 'use strict'; ${withSharedNames(code)}\n})`;
}

/**
 * Opens a virtual machine (QuickJS, compiled to WebAssembly) and loads an environment into it. `quickjsWasm` holds the
 * bytes of `quickjs-wasi/quickjs.wasm`. Throws EnvironmentFileError if the file can't be loaded.
 */
export async function openSandbox(
  quickjsWasm: BufferSource,
  { code }: Declaration,
  limits: SandboxLimits = LIMITS,
): Promise<Sandbox> {
  const lineCount = code.split('\n').length;
  const work = { environment: 0, machine: 0 }; // done by the current call, in units
  let allWork = 0; // of the environment's code, in units
  // above `limits.work`, so that the call can first reach a loop turn of its own code, where stopping does no harm
  const maxMachineWork = 2 * limits.work;
  let currentRequest = -1; // index of the request in progress
  let endReply: Reply | null = null;
  let stoppedStack: string | null = null; // the stack of the call that was stopped
  const vm = await QuickJS.create({
    wasm: await compiledMachine(quickjsWasm),
    memoryLimit: limits.memoryBytes,
    maxStackSize: limits.stackBytes,
    timezoneOffset: 0,
    interruptHandler: () => (allWork++, ++work.environment > limits.work || work.machine > limits.work),
    wasi: (memory) => ({
      // no real clock and no real random numbers, so that every machine gives the same results
      clock_time_get: (_id: number, _precision: bigint, at: number) => (
        new DataView(memory.buffer).setBigUint64(at, 0n, true),
        0
      ),
      random_get: (at: number, length: number) => (new Uint8Array(memory.buffer, at, length).fill(1), 0),
      fd_write: () => 0,
      fd_close: () => {
        if (++work.machine <= maxMachineWork) return 0;
        stoppedStack ??= currentStack();
        throw new EndedError(); // passes through the machine's own functions, so the machine can't be used after that
      },
    }),
  });
  /** The stack of the call in progress, which names the line of the environment's file. */
  function currentStack(): string {
    stoppedStack = ''; // so that this runs only once
    work.machine = 0;
    try {
      return vm.evalCode('new Error().stack', 'playground.js').toString();
    } catch {
      return '';
    }
  }
  const resetWork = () => {
    work.environment = 0;
    work.machine = 0;
  };
  const rng = vm.newObject();
  const programs = machinePrograms();
  vm.callFunction(vm.evalCode(programs.rng, 'rng.js'), vm.undefined, rng).dispose();
  const serverExports = vm.callFunction(vm.evalCode(programs.playground, 'playground.js'), vm.undefined, rng);
  const serverFunction = (name: string) => serverExports.getProp(name);
  const [close, take, serveFunction] = [serverFunction('close'), serverFunction('take'), serverFunction('serve')];
  const countRequest = vm.newFunction('begin', () => {
    resetWork();
    currentRequest++;
    return vm.undefined;
  });
  /** The line of the environment's file that an error's stack names first. */
  const lineOf = (error: unknown): number | null => {
    const stack = error instanceof JSException ? (error.stack ?? '') : (stoppedStack ?? '');
    return validLine(/environment\.ts:(\d+)/.exec(stack)?.[1]);
  };
  const validLine = (lineText: unknown): number | null => {
    const line = Number(lineText ?? 0);
    return line >= 1 && line <= lineCount ? line : null;
  };
  const load = (): Statics => {
    resetWork();
    vm.callFunction(close, vm.undefined, vm.global).dispose();
    resetWork();
    const run = vm.evalCode(environmentProgram(code), FILE, EvalFlags.STRICT);
    const exported = vm.newObject();
    vm.callFunction(run, vm.undefined, exported).dispose();
    resetWork();
    return JSON.parse(vm.callFunction(take, vm.undefined, exported, vm.newString(FILE)).toString()) as Statics;
  };
  let statics: Statics;
  try {
    statics = load();
  } catch (error) {
    const line = lineOf(error);
    vm.dispose();
    throw new EnvironmentFileError(
      isTooLong(error) ? `The file ${TOO_LONG}` : `The file can’t be loaded: ${visible(messageOf(error))}`,
      line,
    );
  }
  const callServe = (text: JSValueHandle, why: JSValueHandle, line: JSValueHandle): string | JSException => {
    resetWork();
    try {
      const reply = vm.callFunction(serveFunction, vm.undefined, text, why, line, countRequest);
      const replyText = reply.toString();
      reply.dispose();
      return replyText;
    } catch (error) {
      if (error instanceof JSException) return error;
      throw error;
    }
  };
  const serve = (requests: readonly Request[]): readonly Reply[] => {
    currentRequest = -1;
    const text = vm.newString(JSON.stringify(requests));
    let replyText = callServe(text, vm.undefined, vm.null);
    text.dispose();
    // this loop ends, because each turn finishes at least one more request
    for (let stops = 0; typeof replyText !== 'string' && stops <= requests.length; stops++) {
      const reason = vm.newString(isTooLong(replyText) ? TOO_LONG : `was stopped: ${messageOf(replyText)}.`);
      const line = lineOf(replyText);
      const lineHandle = line === null ? vm.null : vm.newNumber(line);
      replyText = callServe(vm.undefined, reason, lineHandle);
      for (const handle of [reason, lineHandle]) handle.dispose();
    }
    if (typeof replyText !== 'string') throw replyText;
    return (JSON.parse(replyText) as readonly Reply[]).map((reply) =>
      typeof reply.line === 'number' ? { ...reply, line: validLine(reply.line) } : reply,
    );
  };
  return {
    statics,
    serve(requests) {
      if (endReply === null) {
        try {
          return serve(requests);
        } catch (error) {
          const where = WHERE[requests[currentRequest]?.op ?? 'call'];
          const why = isTooLong(error) ? TOO_LONG : `was stopped: ${visible(messageOf(error))}.`;
          endReply = {
            problem: `${where} ${why} The whole virtual machine was ended, with every episode in it.`,
            line: lineOf(error),
          };
        }
      }
      return requests.map(() => endReply ?? {});
    },
    counted(play) {
      const before = allWork;
      const result = play();
      return { result, work: (allWork - before) * UNIT };
    },
    dispose: () => {
      if (endReply === null) vm.dispose();
    },
  };
}

/** Thrown inside a call that doesn't end, to end its virtual machine. */
class EndedError extends Error {}

const messageOf = (error: unknown) => (error instanceof Error ? error.message : String(error));
const isTooLong = (error: unknown) => error instanceof EndedError || messageOf(error).includes('interrupted');

const compiledMachines = new WeakMap<object, Promise<WebAssembly.Module>>();

/** Compiles the metered virtual machine. The result is kept, so each machine is compiled only once. */
function compiledMachine(quickjsWasm: BufferSource): Promise<WebAssembly.Module> {
  const existing = compiledMachines.get(quickjsWasm);
  if (existing) return existing;
  const bytes = ArrayBuffer.isView(quickjsWasm)
    ? new Uint8Array(quickjsWasm.buffer, quickjsWasm.byteOffset, quickjsWasm.byteLength)
    : new Uint8Array(quickjsWasm);
  const compilation = WebAssembly.compile(meteredWasm(bytes));
  compiledMachines.set(quickjsWasm, compilation);
  return compilation;
}
