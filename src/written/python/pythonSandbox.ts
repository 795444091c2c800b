import { isRecord, type JsonRecord } from '../../base/jsonRecord.ts';
import { placeProblem } from '../../base/pagePlace.ts';
import { visible } from '../../base/visible.ts';
import { valueSchemaOf, parameterName } from '../../text/toolSchema.ts';
import { type Declaration, EnvironmentFileError } from '../script/declaration.ts';
import type { Reply, Request, Sandbox, Statics } from '../script/sandbox.ts';
import { receiveText, newChannelMemory, Place, sendText, type SharedChannel, channelSide } from './sharedChannel.ts';
import type { WrittenView } from '../../domain/envView.ts';

const MAX_TEXT = 5000; // characters of a text; the interpreter cuts at 4,000, but one character may have two code units
const MAX_NAMED = 64; // named values in one reply
const MAX_ITEMS = 4096; // of a list in an argument
const MAX_DEPTH = 16; // of lists in an argument

/**
 * Checks an interpreter's replies to requests. A person's file can change anything in the interpreter, so every field
 * is checked. Throws TypeError if the replies don't have the right form or number.
 */
function checkedReplies(
  replies: unknown,
  requests: readonly Request[],
  validLine: (line: unknown) => number | null,
): readonly Reply[] {
  if (!Array.isArray(replies) || replies.length !== requests.length) throw new TypeError('no list of replies');
  return (replies as readonly unknown[]).map((reply) => {
    if (!isRecord(reply)) throw new TypeError('no reply');
    return checkedReply(reply, validLine);
  });
}

function checkedReply(reply: JsonRecord, validLine: (line: unknown) => number | null): Reply {
  if (reply['problem'] !== undefined) return { problem: text(reply['problem']), line: validLine(reply['line']) };
  const isPresent = (name: string) => reply[name] !== undefined;
  return {
    ...(isPresent('line') && { line: validLine(reply['line']) }),
    ...(isPresent('text') && { text: text(reply['text']) }),
    ...(isPresent('cut') && { cut: number(reply['cut']) }),
    ...(isPresent('refused') && { refused: text(reply['refused']) }),
    ...(isPresent('bug') && { bug: reply['bug'] === true }),
    ...(isPresent('over') && { over: reply['over'] === true }),
    ...(isPresent('paid') && { paid: number(reply['paid']) }),
    ...(isPresent('state') && { state: text(reply['state']) }),
    ...(isPresent('parts') && { parts: namedValues(reply['parts'], number) }),
    ...(isPresent('none') && { none: reply['none'] === true }),
    ...(isPresent('tool') && { tool: text(reply['tool']) }),
    ...(isPresent('answer') && { answer: text(reply['answer']) }),
    ...(isPresent('values') && { values: namedValues(reply['values'], plainValue) }),
    ...(isPresent('shown') && { shown: view(reply['shown']) }),
  };
}

function text(value: unknown): string {
  if (typeof value !== 'string' || value.length > 2 * MAX_TEXT) throw new TypeError('no text');
  return value;
}

function number(value: unknown): number {
  if (typeof value !== 'number' || !Number.isFinite(value)) throw new TypeError('no number');
  return value;
}

/** A value of JSON: an argument of a call. */
function plainValue(value: unknown, depth = 0): unknown {
  if (value === null || typeof value === 'boolean') return value;
  if (typeof value === 'number') return number(value);
  if (typeof value !== 'object') return text(value);
  if (depth > MAX_DEPTH) throw new TypeError('nested too deep');
  const inner = (item: unknown) => plainValue(item, depth + 1);
  return Array.isArray(value) ? list(value, MAX_ITEMS, inner) : namedValues(value, inner);
}

function namedValues<T>(value: unknown, check: (value: unknown) => T): Readonly<Record<string, T>> {
  if (!isRecord(value)) throw new TypeError('nothing named');
  const entries = Object.entries(value);
  if (entries.length > MAX_NAMED) throw new TypeError('too much');
  return Object.fromEntries(entries.map(([name, entryValue]) => [text(name), check(entryValue)]));
}

function list<T>(value: unknown, maxLength: number, check: (value: unknown) => T): readonly T[] {
  if (!Array.isArray(value) || value.length > maxLength) throw new TypeError('no list');
  return (value as readonly unknown[]).map(check);
}

function view(value: unknown): WrittenView {
  if (!isRecord(value)) throw new TypeError('no view');
  const { kind, rows, from, to, marks } = value;
  if (kind === 'text') return { kind, text: text(value['text']) };
  if (kind === 'table' || kind === 'grid') return { kind, rows: list(rows, 30, (row) => list(row, 30, text)) };
  if (kind !== 'line') throw new TypeError('no view');
  const mark = (entry: unknown) => {
    if (!isRecord(entry)) throw new TypeError('no mark');
    return { name: text(entry['name']), at: number(entry['at']) };
  };
  return { kind, from: number(from), to: number(to), marks: list(marks, 12, mark) };
}

export interface PythonThread {
  /** Resolves when Python is ready. Rejects if it can't be started. */
  readonly ready: Promise<void>;
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

export const PYTHON_LIMITS: PythonLimits = { callMs: 5000, loadMs: 5000, graceMs: 5000 };

/** Largest size of a list of replies, in bytes. */
const MAX_REPLY_BYTES = 64e6;
// The time of a call or loop turn in Python, and of a request beside that of an episode, in calls and loop turns of a
// class in TypeScript. Measured with three classes, roughly.
const [TURN_WORK, REQUEST_WORK] = [6, 900];
const SIGINT = 2; // the value that interrupts Python
/** Ends the interpreter of a sandbox that was garbage-collected. */
const abandonedInterpreters = new FinalizationRegistry<Interpreter>((interpreter) => interpreter.end());
/**
 * The interpreter of the last closed sandbox. Starting one takes seconds, so the next sandbox of the same file reuses
 * it.
 */
let spareInterpreter: { readonly start: StartPython; readonly code: string; readonly interpreter: Interpreter } | null =
  null;

/**
 * Loads a Python environment into an interpreter of its own. The file's module is new each time; modules of the
 * standard library may come from an earlier sandbox of the same file. Throws EnvironmentFileError if loading the file
 * fails.
 */
export async function openPythonSandbox(
  startPython: StartPython,
  declaration: Declaration,
  limits: PythonLimits = PYTHON_LIMITS,
): Promise<Sandbox> {
  const { code, name, tools } = declaration;
  const lineCount = code.split('\n').length;
  const interpreter = await interpreterFor(startPython, code);
  let isOpen = true;
  const keepForReuse = () => {
    if (!isOpen) return;
    isOpen = false;
    if (interpreter.ended !== null) return;
    spareInterpreter?.interpreter.end();
    spareInterpreter = { start: startPython, code, interpreter };
  };
  const schemas = Object.fromEntries(
    tools.map((tool) => [
      tool.name,
      Object.fromEntries(tool.parameters.map((each) => [parameterName(each), valueSchemaOf(each)])),
    ]),
  );
  /** A call with its arguments by name. JSON leaves out those that are undefined, so Python uses their defaults. */
  const withNames = (request: Request) => {
    if (request.op !== 'call') return request;
    const parameters = tools.find((tool) => tool.name === request.tool)?.parameters ?? [];
    const values = parameters.map((parameter, at) => [parameterName(parameter), request.values[at]]);
    return { ...request, values: Object.fromEntries(values) as object };
  };
  const validLine = (line: unknown) => (typeof line === 'number' && line >= 1 && line <= lineCount ? line : null);
  let statics: Statics;
  try {
    const reply = interpreter.ask({ source: code, name, tools: schemas }, 1, limits.loadMs, limits.graceMs);
    if (!isRecord(reply)) throw new EndedError('sent a reply of the wrong form');
    if (typeof reply['problem'] === 'string')
      throw new EnvironmentFileError(visible(reply['problem'], 4000), validLine(reply['line']));
    statics = isRecord(reply['statics']) ? reply['statics'] : {};
  } catch (error) {
    keepForReuse();
    if (error instanceof EndedError)
      throw new EnvironmentFileError(`The file ${error.message}. Python was ended.`, null);
    throw error;
  }
  let served = 0; // requests
  const sandbox: Sandbox = {
    statics,
    serve(requests) {
      served += requests.length;
      if (interpreter.ended === null) {
        try {
          const reply = interpreter.ask(requests.map(withNames), requests.length, limits.callMs, limits.graceMs);
          return checkedReplies(reply, requests, validLine);
        } catch (error) {
          interpreter.end(error instanceof EndedError ? error : new EndedError('sent a reply of the wrong form'));
        }
      }
      const problem = `${currentMethod(requests, interpreter)} ${interpreter.ended?.message ?? ''}. Python was ended, with every episode in it.`;
      return requests.map((): Reply => ({ problem, line: null }));
    },
    counted(play) {
      const count = (on: boolean) => {
        if (interpreter.ended !== null) return 0;
        const reply = interpreter.ask({ count: on }, 1, limits.callMs, limits.graceMs);
        return isRecord(reply) ? Number(reply['work']) || 0 : 0;
      };
      count(true);
      const before = served;
      const result = play();
      return { result, work: TURN_WORK * count(false) + REQUEST_WORK * (served - before) };
    },
    dispose() {
      abandonedInterpreters.unregister(interpreter);
      keepForReuse();
    },
  };
  abandonedInterpreters.register(sandbox, interpreter, interpreter);
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
function currentMethod(requests: readonly Request[], { requestsBegun }: Interpreter): string {
  const request = requests[Math.min(requestsBegun, requests.length) - 1];
  return WHERE[request?.op ?? 'call'];
}

const RELOAD =
  'Reload the page once: it has it from the second visit on. In a frame of another page it has none; open the page in a tab of its own.';
const NO_SHARED_MEMORY =
  'Reloading won’t help: this browser gives no page such memory. Use Chrome, Edge, Firefox or Safari, or write the class in TypeScript.';

async function interpreterFor(startPython: StartPython, code: string): Promise<Interpreter> {
  const previous = spareInterpreter;
  spareInterpreter = null;
  if (previous?.start === startPython && previous.code === code && previous.interpreter.ended === null)
    return previous.interpreter;
  previous?.interpreter.end();
  if (typeof SharedArrayBuffer === 'undefined') {
    const { crossOriginIsolated: isIsolated } = globalThis as Partial<typeof globalThis>; // absent in Node
    throw new EnvironmentFileError(
      `Python needs memory that two threads share, and this page has none. ${placeProblem() ?? (isIsolated ? NO_SHARED_MEMORY : RELOAD)}`,
      null,
    );
  }
  const shared = newChannelMemory();
  const thread = startPython(shared);
  await thread.ready;
  return new Interpreter(thread, channelSide('host', shared));
}

/** The reason why the interpreter ended, as the end of a sentence. */
class EndedError extends Error {}

/** A Python interpreter that gets one request after another, and is ended if it doesn't answer. */
class Interpreter {
  ended: EndedError | null = null;
  /** The number of requests of the last message that Python has begun. */
  requestsBegun = 0;
  readonly #thread: PythonThread;
  readonly #channel: SharedChannel;

  constructor(thread: PythonThread, channel: SharedChannel) {
    this.#thread = thread;
    this.#channel = channel;
  }

  end(reason = new EndedError('was ended')): void {
    if (this.ended === null) this.#thread.end();
    this.ended ??= reason;
  }

  /**
   * Sends a message and waits for the reply. The message holds `requestCount` requests. Each of them may take
   * `limitMs`, plus `graceMs` to stop. Throws EndedError if the interpreter has to be ended.
   */
  ask(message: object, requestCount: number, limitMs: number, graceMs: number): unknown {
    if (this.ended) throw this.ended;
    const { header } = this.#channel;
    Atomics.store(header, Place.requestsBegun, 0);
    Atomics.store(header, Place.interrupt, 0);
    let [requestsSeen, stopRequests, remainingMs] = [0, 0, limitMs];
    const waitWhile = (state: number) => {
      while (Atomics.load(header, Place.state) === state) {
        if (remainingMs > 0) {
          const waitMs = Math.min(remainingMs, 200);
          const start = performance.now();
          Atomics.wait(header, Place.state, state, waitMs);
          // a machine that stood still for longer has not given Python that time
          remainingMs -= Math.min(performance.now() - start, waitMs);
        } else if (stopRequests === 0) {
          Atomics.store(header, Place.interrupt, SIGINT);
          [stopRequests, remainingMs] = [1, graceMs];
        } else {
          throw new EndedError('computed too long and could not be stopped');
        }
        const requestsBegun = Math.min(Atomics.load(header, Place.requestsBegun), requestCount);
        if (requestsBegun > requestsSeen) [requestsSeen, stopRequests, remainingMs] = [requestsBegun, 0, limitMs];
      }
    };
    try {
      sendText(this.#channel, JSON.stringify(message), waitWhile);
      const reply: unknown = JSON.parse(receiveText(this.#channel, MAX_REPLY_BYTES, waitWhile));
      if (isRecord(reply) && typeof reply['ended'] === 'string') {
        throw new EndedError(`was stopped: ${visible(reply['ended'], 200)}`);
      }
      return reply;
    } catch (error) {
      const endReason =
        error instanceof EndedError ? error : new EndedError(`was stopped: ${visible(String(error), 200)}`);
      this.end(endReason);
      throw endReason;
    } finally {
      this.requestsBegun = requestsSeen;
    }
  }
}
