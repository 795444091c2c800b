import { isRecord } from '../../base/jsonRecord.ts';
import { visible } from '../../base/visible.ts';
import type { Parameter } from '../../text/toolSchema.ts';
import { type Declaration, EnvironmentFileError } from '../declaration.ts';
import type { Reply, Request, Sandbox, Statics } from '../sandbox.ts';
import { checkedReplies } from './checkedReplies.ts';
import { receiveText, newTalkMemory, Place, sendText, type Talk, talkOf } from './sharedTalk.ts';

/** A thread that runs Python. */
export interface PythonThread {
  /** Resolves when Python is ready. Rejects if it can't be started. */
  readonly begun: Promise<void>;
  readonly end: () => void;
}

/** Starts a thread with Python in it that answers through this memory. */
export type StartPython = (shared: SharedArrayBuffer) => PythonThread;

/**
 * Time limits. They are in milliseconds, because Python's work can't be counted in a way that is the same on every
 * machine.
 */
export interface PythonLimits {
  readonly callMs: number; // for one call; then it's stopped at its current line
  readonly loadMs: number; // for loading the file
  readonly graceMs: number; // for a stopped call to end; then the interpreter is ended
}

export const PYTHON_LIMITS: PythonLimits = { callMs: 5000, loadMs: 5000, graceMs: 3000 };

/** Largest size of a list of replies, in bytes. */
const MAX_REPLY_BYTES = 64e6;
const SIGINT = 2; // the value that interrupts Python
/** Ends the interpreter of a sandbox that was garbage-collected. */
const abandoned = new FinalizationRegistry<Interpreter>((interpreter) => interpreter.end());
/**
 * The interpreter of the last closed sandbox. Starting one takes seconds, so the next sandbox of the same file reuses
 * it.
 */
let spare: { readonly start: StartPython; readonly code: string; readonly interpreter: Interpreter } | null = null;

/**
 * Loads a Python environment into an interpreter of its own. The file's module is new each time; modules of the
 * standard library may come from an earlier sandbox of the same file. Throws EnvironmentFileError if loading the file
 * fails.
 */
export async function openPythonSandbox(
  start: StartPython,
  declaration: Declaration,
  limits: PythonLimits = PYTHON_LIMITS,
): Promise<Sandbox> {
  const { code, name, tools } = declaration;
  const lines = code.split('\n').length;
  const interpreter = await interpreterFor(start, code);
  let open = true;
  const giveBack = () => {
    if (!open) return;
    open = false;
    if (interpreter.ended !== null) return;
    spare?.interpreter.end();
    spare = { start, code, interpreter };
  };
  const nameOf = (parameter: Parameter) => (typeof parameter === 'string' ? parameter : parameter.name);
  const parameters = Object.fromEntries(tools.map((tool) => [tool.name, tool.parameters.map(nameOf)]));
  const lineIn = (line: unknown) => (typeof line === 'number' && line >= 1 && line <= lines ? line : null);
  let statics: Statics;
  try {
    const reply = interpreter.ask({ source: code, name, tools: parameters }, 1, limits.loadMs, limits.graceMs);
    if (!isRecord(reply)) throw new EndedError('sent a reply of the wrong form');
    if (typeof reply['problem'] === 'string')
      throw new EnvironmentFileError(visible(reply['problem'], 4000), lineIn(reply['line']));
    statics = isRecord(reply['statics']) ? reply['statics'] : {};
  } catch (error) {
    giveBack();
    if (error instanceof EndedError)
      throw new EnvironmentFileError(`The file ${error.message}. Python was ended.`, null);
    throw error;
  }
  const sandbox: Sandbox = {
    statics,
    serve(requests) {
      if (interpreter.ended === null) {
        try {
          const reply = interpreter.ask(requests, requests.length, limits.callMs, limits.graceMs);
          return checkedReplies(reply, requests, lineIn);
        } catch (error) {
          interpreter.end(error instanceof EndedError ? error : new EndedError('sent a reply of the wrong form'));
        }
      }
      const problem = `${whereOf(requests, interpreter)} ${interpreter.ended?.message ?? ''}. Python was ended, with every episode in it.`;
      return requests.map((): Reply => ({ problem, line: null }));
    },
    dispose() {
      abandoned.unregister(interpreter);
      giveBack();
    },
  };
  abandoned.register(sandbox, interpreter, interpreter);
  return sandbox;
}

const WHERE: Readonly<Record<Request['op'], string>> = {
  open: 'reset()',
  call: 'A tool',
  answer: '_answer()',
  expert: '_expert()',
  observe: '_observe()',
  reward: 'get_reward()',
  close: 'The end of an episode',
};

/** Describes the request during which the interpreter ended. */
function whereOf(requests: readonly Request[], { served }: Interpreter): string {
  const request = requests[Math.min(served, requests.length) - 1];
  return WHERE[request?.op ?? 'call'];
}

async function interpreterFor(start: StartPython, code: string): Promise<Interpreter> {
  const previous = spare;
  spare = null;
  if (previous?.start === start && previous.code === code && previous.interpreter.ended === null)
    return previous.interpreter;
  previous?.interpreter.end();
  if (typeof SharedArrayBuffer === 'undefined') {
    throw new EnvironmentFileError(
      'Python needs memory that two threads share, and this page has none yet. Reload the page once; it has it from the second visit on, unless it is shown in a frame of another page.',
      null,
    );
  }
  const shared = newTalkMemory();
  const thread = start(shared);
  await thread.begun;
  return new Interpreter(thread, talkOf('host', shared));
}

/** The reason why the interpreter ended, as the end of a sentence. */
class EndedError extends Error {}

/** A Python interpreter that gets one request after another, and is ended if it doesn't answer. */
class Interpreter {
  ended: EndedError | null = null;
  /** The number of requests begun in the last list. */
  served = 0;
  readonly #thread: PythonThread;
  readonly #talk: Talk;

  constructor(thread: PythonThread, talk: Talk) {
    this.#thread = thread;
    this.#talk = talk;
  }

  end(why = new EndedError('was ended')): void {
    if (this.ended === null) this.#thread.end();
    this.ended ??= why;
  }

  /**
   * Sends a request and waits for the reply. Each of `steps` may take `ms`, plus `graceMs` to stop. Throws EndedError
   * if the interpreter has to be ended.
   */
  ask(what: object, steps: number, ms: number, graceMs: number): unknown {
    if (this.ended) throw this.ended;
    const { header } = this.#talk;
    Atomics.store(header, Place.began, 0);
    Atomics.store(header, Place.interrupt, 0);
    let [began, stops, since] = [0, 0, performance.now()];
    const waitWhile = (state: number) => {
      while (Atomics.load(header, Place.state) === state) {
        const left = since + (stops === 0 ? ms : graceMs) - performance.now();
        if (left > 0) {
          Atomics.wait(header, Place.state, state, Math.min(left, 200));
        } else if (stops === 0) {
          Atomics.store(header, Place.interrupt, SIGINT);
          [stops, since] = [1, performance.now()];
        } else {
          throw new EndedError('computed too long and could not be stopped');
        }
        const now = Math.min(Atomics.load(header, Place.began), steps);
        if (now > began) [began, stops, since] = [now, 0, performance.now()];
      }
    };
    try {
      sendText(this.#talk, JSON.stringify(what), waitWhile);
      const reply: unknown = JSON.parse(receiveText(this.#talk, MAX_REPLY_BYTES, waitWhile));
      if (isRecord(reply) && typeof reply['ended'] === 'string') {
        throw new EndedError(`was stopped: ${visible(reply['ended'], 200)}`);
      }
      return reply;
    } catch (error) {
      const why = error instanceof EndedError ? error : new EndedError(`was stopped: ${visible(String(error), 200)}`);
      this.end(why);
      throw why;
    } finally {
      this.served = began;
    }
  }
}
