import { ConfigError, FIELDS, isFieldName, type FieldName } from './config.ts';
import type { Facts } from './facts/facts.ts';
import { chooseBackend } from './model/chooseBackend.ts';
import { openGpuPolicy } from './model/gpuPolicy.ts';
import { BackendError } from './model/policy.ts';
import type { Answer, Question, RunCommand, RunEvent } from './protocol.ts';
import { openTable } from './playTable.ts';
import { factsFor } from './worlds.ts';
import { openSession, type Host, type Session } from './session.ts';

/** The composition root in the page: gpu → policy → train → events. Pausing is not pulling; a step is pulling once. */
let session: Session | null = null;
let running = false;
let stepping: 'update' | 'optimizer-step' | null = null;
let learning = false; // the next pull takes an optimizer step
let learned = false; // one was taken since it was asked for
let pumping = false;
let update = 0;
let turn: Promise<void> = Promise.resolve();
const play = openTable();
let ownFacts: Facts | null = null; // those of the last run that had some

const channel = new MessageChannel();
const waiting: (() => void)[] = [];
channel.port1.onmessage = () => waiting.shift()?.();

const host: Host = {
  gpu: (navigator as Partial<Navigator>).gpu,
  openGpuPolicy,
  chooseBackend: (gpu, spec) =>
    chooseBackend(gpu, spec, {
      now: () => performance.now(),
      wait: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
    }),
  shippedFile: async (path) => {
    // relative to this script, one folder below the page both as built and as served for development
    const address = new URL(/* @vite-ignore */ '../', import.meta.url);
    const response = await fetch(new URL(path, address)).catch(() => null);
    const found = response?.ok === true && !response.headers.get('content-type')?.startsWith('text/html');
    return found ? response.arrayBuffer() : null;
  },
  now: () => performance.now(),
  // a message comes round at once; a timer would cost 4 ms each time
  breathe: () =>
    new Promise((resolve) => {
      waiting.push(resolve);
      channel.port2.postMessage(null);
    }),
};

function post(event: RunEvent): void {
  // structured clone, no transfer: a batch's arrays may still be the policy's own, and they are small
  globalThis.postMessage(event);
}

function say(finished = false): void {
  post({ type: 'running', running, update, finished });
}

async function obey(command: Exclude<RunCommand, { type: 'play' }>): Promise<void> {
  switch (command.type) {
    case 'start':
      return start(command);
    case 'configure':
      session?.configure(command.changes);
      return;
    case 'prefer':
      session?.prefer(command.better, command.worse);
      return;
    case 'run':
      running = session !== null;
      break;
    case 'pause':
      running = false;
      break;
    case 'ask':
      post({ type: 'answer', id: command.id, answer: await answer(command.question) });
      return;
    case 'step':
      running = false;
      stepping = session && command.scale;
      learned = false;
  }
  if (command.type !== 'step') say();
  void pump();
}

async function answer(question: Question): Promise<Answer> {
  if (!session) return { kind: 'refused', message: 'There is no run to ask. Run training first.' };
  try {
    return await session.inspection.answer(question);
  } catch (error) {
    return { kind: 'refused', message: error instanceof Error ? error.message : String(error) };
  }
}

/** A new run takes the place of the old one once it is known to be possible. */
async function start({ config, facts, run }: Extract<RunCommand, { type: 'start' }>): Promise<void> {
  const before = { running, stepping };
  [running, stepping] = [false, null];
  try {
    const next = await openSession(config, host, post, facts ?? null);
    session?.dispose();
    session = next;
    update = 0;
    learning = false;
    running = run;
  } catch (error) {
    ({ running, stepping } = before);
    throw error;
  } finally {
    say();
    void pump();
  }
}

/** Pulls events while the run is on. Only one pump pulls at a time. */
async function pump(): Promise<void> {
  if (pumping) return;
  pumping = true;
  try {
    while (session && (running || stepping)) {
      const pulled = session;
      const next = await pulled.events.next();
      if (pulled !== session) continue; // a new run took its place meanwhile
      if (next.done === true) throw new Error('The training loop ended by itself.');
      const event: RunEvent = next.value;
      if (event.type === 'metrics') {
        update = event.update;
        await keep(pulled, update);
        if (pulled !== session) continue;
      }
      if (event.type === 'running') {
        running = event.running;
        if (!running) stepping = null;
      }
      post(event);
      const before = event.type === 'phase' && event.phase === 'updating'; // before an optimizer step
      learned ||= learning && event.type !== 'configured';
      learning = before || (learning && event.type === 'configured');
      // the last optimizer step of an update brings the update's numbers with it
      const ended = event.type === 'metrics' && update > 0;
      const done = ended ? stepping === 'update' || learned : before && learned && stepping === 'optimizer-step';
      if (stepping && done) {
        stepping = null;
        say();
      }
      await host.breathe();
    }
  } catch (error) {
    [running, stepping] = [false, null];
    session?.dispose(); // a generator that threw is over
    session = null;
    explain(error, true);
  } finally {
    pumping = false;
  }
}

/** Keeps the weights for questions; that a run which was replaced meanwhile has none to give is no news. */
async function keep(from: Session, after: number): Promise<void> {
  try {
    await from.inspection.keep(after);
  } catch (error) {
    if (from === session) throw error;
  }
}

function explain(error: unknown, fatal: boolean): void {
  const message = error instanceof Error ? error.message : String(error);
  if (error instanceof BackendError) {
    post({ type: 'error', message, hint: error.hint, fatal, fields: error.fields });
  } else if (error instanceof ConfigError) {
    const fields = error.problems.map((problem) => problem.split(':')[0] ?? '').filter(isFieldName);
    const hint = fields.length > 0 ? `Change ${fields.map(label).join(', ')}.` : 'Change the knobs named.';
    post({ type: 'error', message, hint, fatal, fields });
  } else {
    const hint = fatal ? 'Start again; if it comes back, try the CPU backend.' : 'The run that was there is unharmed.';
    post({ type: 'error', message: `The engine stopped: ${message}`, hint, fatal, fields: [] });
  }
}

function label(name: FieldName): string {
  return FIELDS[name].label;
}

globalThis.addEventListener('message', ({ data }: MessageEvent<RunCommand>) => {
  if (data.type === 'start') ownFacts = data.facts ?? ownFacts;
  if (data.type === 'play') {
    const { id, task } = data;
    void factsFor(task.config, ownFacts, host.shippedFile)
      .then((facts) => play(task, facts))
      .catch((error: unknown): Answer => ({ kind: 'refused', message: String(error) }))
      .then((answer) => post({ type: 'answer', id, answer }));
  }
  // commands wait for each other, not for the pump: a run can be paused while it runs
  else turn = turn.then(() => obey(data)).catch((error: unknown) => explain(error, false));
});
