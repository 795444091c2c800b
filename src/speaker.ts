import { parseConfig, type RunConfig } from './config/config.ts';
import type { EnvName } from './config/environments.ts';
import type { MemoryPlan } from './domain/modelCard.ts';
import { Role } from './domain/tokens.ts';
import { blobSource } from './formats/byteSource.ts';
import { modelCard } from './speaking/cardOfModel.ts';
import { chatOf } from './speaking/chat.ts';
import { Conversation } from './speaking/conversation.ts';
import { memoryPlan, openReadingModel } from './speaking/readingModel.ts';
import { type TaskEnv, taskEnv, taskForm, TaskPlay } from './speaking/taskPlay.ts';
import { openTextCheckpoint, type TextCheckpoint } from './speaking/textCheckpoint.ts';
import { type OnWrote, Writer } from './speaking/writer.ts';
import { factsFor } from './session/shippedFacts.ts';
import { shippedFile } from './worker/shippedFile.ts';
import { pageThreads } from './worker/pageThreads.ts';
import type { OpeningWish, Pause, SpeakerCommand, SpeakerEvent } from './wire/speakerMessages.ts';

/** The worker that reads checkpoints and speaks for them: training has its own, and hears nothing of it. */
let looked: TextCheckpoint | null = null;
let plan: MemoryPlan | null = null;
let talk: { readonly writer: Writer; readonly conversation: Conversation } | null = null;
let play: TaskPlay | null = null; // of the text, where it is a task
let stopping = false;

const post = (event: SpeakerEvent) => globalThis.postMessage(event);

/** What to tell a person of an error, a line each. */
function reasonsOf(error: unknown): readonly string[] {
  return (error instanceof Error ? error.message : String(error)).split('\n');
}

async function look({ name, files, wish }: Extract<SpeakerCommand, { type: 'look' }>): Promise<void> {
  try {
    const placed = files.map(({ path, file }) => ({ path, source: blobSource(path, file) }));
    const found = await openTextCheckpoint(placed);
    const context = found.context ?? wish.length;
    plan = await memoryPlan(found, { ...wish, length: Math.min(wish.length, context) }, navigator.gpu);
    looked = found;
    post({ type: 'looked', card: modelCard(found, name, placed), plan });
  } catch (error) {
    post({ type: 'refused', name, reasons: reasonsOf(error) });
  }
}

async function measure(wish: OpeningWish): Promise<void> {
  if (!looked) return;
  plan = await memoryPlan(looked, wish, navigator.gpu);
  post({ type: 'measured', plan });
}

async function planTraining(config: RunConfig): Promise<void> {
  const trainingPlan = { type: 'training-plan', config } as const;
  if (!looked?.template) return;
  try {
    // brings environments, which reading alone does not need
    const { plannedTraining } = await import('./session/plannedTraining.ts');
    const { codec, template, opened } = looked;
    const chatTokenizer = { codec, template, size: opened.model.vocab_size };
    const plan = await plannedTraining(
      config,
      { ...opened, chatTokenizer },
      { shippedFile, gpu: (navigator as Partial<Navigator>).gpu },
    );
    post({ ...trainingPlan, plan, problem: '' });
  } catch (error) {
    post({ ...trainingPlan, plan: null, problem: reasonsOf(error).join(' ') });
  }
}

async function open(): Promise<void> {
  if (!looked || !plan) return;
  const begun = performance.now();
  talk?.writer.model.destroy();
  play = null;
  talk = null; // two models at once would not fit
  const { codec, template } = looked;
  const model = await openReadingModel(
    looked,
    plan,
    { gpu: navigator.gpu, threads: pageThreads() },
    {
      onRead: (bytes, of) => post({ type: 'loading', bytes, of }),
      onMoved: (moved) => {
        plan = moved;
        post({ type: 'measured', plan });
      },
      onLost: (reason) => {
        talk = null;
        post({
          type: 'lost',
          message: `The GPU was taken away (${reason}). Open the model again; what was said is still here.`,
        });
      },
    },
  );
  const writer = new Writer(model, codec);
  talk = { writer, conversation: new Conversation(writer, chatOf(codec, template)) };
  const seconds = (performance.now() - begun) / 1000;
  post({ type: 'opened', backend: model.backend, parts: model.memory, seconds });
}

/** Writes, and tells of it token by token until it is over or the page wants it to stop. */
async function write(by: (onWrote: OnWrote) => Promise<Pause>): Promise<void> {
  stopping = false;
  let [drawn, seconds, last] = [0, 0, performance.now()];
  const why = await by(async (from, tokens) => {
    post({ type: 'wrote', from, tokens });
    const now = performance.now();
    if (tokens[0]?.likely) {
      drawn += tokens.length;
      seconds += (now - last) / 1000;
    }
    last = now; // what is read is not timed
    if (play && tokens[0]?.role !== Role.action) post({ type: 'task', task: play.state });
    await nextTask();
    return !stopping;
  });
  if (play) post({ type: 'task', task: play.state });
  post({ type: 'paused', why, tokens: drawn, seconds });
}

/** An environment in the chat tokenizer of the checkpoint that is open. */
async function envOf(name: EnvName): Promise<TaskEnv> {
  if (!looked?.template) {
    throw new Error(
      'The model has no chat template, so no tools can be told to it. Open one that has, such as SmolLM2-135M-Instruct.',
    );
  }
  const { codec, template, opened } = looked;
  const config = parseConfig({ env: name });
  const facts = await factsFor(config, null, shippedFile);
  return taskEnv(name, facts, { codec, template, size: opened.model.vocab_size });
}

async function beginTask({
  env,
  asked,
  environmentSeed,
  steps,
}: Extract<SpeakerCommand, { type: 'task' }>): Promise<void> {
  if (!talk) return;
  const { writer } = talk;
  const begun = new TaskPlay(writer, await envOf(env), { asked, environmentSeed, steps });
  writer.keep(0);
  play = begun;
  await write(async (onWrote) => {
    await begun.begin(onWrote);
    return 'turn';
  });
}

const { port1, port2 } = new MessageChannel();
/** Lets commands in; a timer would wait four milliseconds. */
const nextTask = () =>
  new Promise<void>((resolve) => {
    port1.onmessage = () => resolve();
    port2.postMessage(null);
  });

function obey(command: Exclude<SpeakerCommand, { type: 'stop' }>): Promise<void> | void {
  switch (command.type) {
    case 'look':
      return look(command);
    case 'measure':
      return measure(command.wish);
    case 'training-plan':
      return planTraining(command.config);
    case 'open':
      return open();
    case 'clear':
      play = null;
      return talk?.writer.keep(0);
    case 'task-form':
      return envOf(command.env).then((env) => post({ type: 'task-form', env: command.env, form: taskForm(env) }));
    case 'task':
      return beginTask(command);
    case 'play':
      return write(async (onWrote) => (await play?.play(command.turns, command.writing, onWrote)) ?? 'stopped');
    case 'type':
      return write(async (onWrote) => (await play?.type(command.text, onWrote)) ?? 'stopped');
    case 'say':
      return write(async (onWrote) => (await talk?.conversation.say(command.system, command.text, command.writing, onWrote)) ?? 'stopped'); // prettier-ignore
    case 'instead': {
      const { at, token, writing } = command;
      return write(async (onWrote) => (await (play ?? talk?.conversation)?.instead(at, token, writing, onWrote)) ?? 'stopped'); // prettier-ignore
    }
  }
}

let queue = Promise.resolve();
globalThis.addEventListener('message', ({ data }: MessageEvent<SpeakerCommand>) => {
  if (data.type === 'stop') {
    stopping = true;
    return;
  }
  // one after the other: what is under way ends first
  queue = queue
    .then(() => obey(data))
    .catch((error: unknown) => post({ type: 'failed', message: reasonsOf(error).join('\n') }))
    .then(() => post({ type: 'done' }));
});
