import { parseConfig, type RunConfig } from './config/config.ts';
import type { EnvName } from './config/environments.ts';
import type { MemoryPlan } from './domain/modelCard.ts';
import { Role } from './domain/tokens.ts';
import { blobSource } from './formats/byteSource.ts';
import { Conversation, chatOf } from './speaking/conversation.ts';
import { memoryPlan, openReadingModel } from './speaking/readingModel.ts';
import { type TaskEnv, taskEnv, taskForm, TaskPlay } from './speaking/taskPlay.ts';
import { openTextCheckpoint, type TextCheckpoint, modelCard } from './speaking/textCheckpoint.ts';
import { type OnWrote, Writer } from './speaking/writer.ts';
import { factsFor } from './session/shippedFacts.ts';
import { shippedFile } from './worker/shippedFile.ts';
import { pageThreads } from './worker/pageThreads.ts';
import { postSignsOfLife } from './wire/startWorker.ts';
import type { OpeningOptions, PauseReason, SpeakerCommand, SpeakerEvent } from './wire/speakerMessages.ts';

/** The worker that reads checkpoints and runs their language models. It is separate from the training worker. */
let checkpoint: TextCheckpoint | null = null;
let plan: MemoryPlan | null = null;
let chat: { readonly writer: Writer; readonly conversation: Conversation } | null = null;
let taskPlay: TaskPlay | null = null; // the task in the text, if there is one
let stopping = false;

const post = (event: SpeakerEvent) => globalThis.postMessage(event);

/** Returns an error's message for a person, as lines. */
function reasonsOf(error: unknown): readonly string[] {
  return (error instanceof Error ? error.message : String(error)).split('\n');
}

async function readHeaders({ name, files, wish }: Extract<SpeakerCommand, { type: 'look' }>): Promise<void> {
  try {
    const sources = files.map(({ path, file }) => ({ path, source: blobSource(path, file) }));
    const opened = await openTextCheckpoint(sources);
    const context = opened.context ?? wish.length;
    plan = await memoryPlan(opened, { ...wish, length: Math.min(wish.length, context) }, navigator.gpu);
    checkpoint = opened;
    post({ type: 'looked', card: modelCard(opened, name, sources), plan });
  } catch (error) {
    post({ type: 'refused', name, reasons: reasonsOf(error) });
  }
}

async function measure(wish: OpeningOptions): Promise<void> {
  if (!checkpoint) return;
  plan = await memoryPlan(checkpoint, wish, navigator.gpu);
  post({ type: 'measured', plan });
}

async function planTraining(config: RunConfig): Promise<void> {
  const trainingPlan = { type: 'training-plan', config } as const;
  if (!checkpoint?.template) return;
  try {
    // loads the environments, which reading alone does not need
    const { plannedTraining } = await import('./session/plannedTraining.ts');
    const { codec, template, opened } = checkpoint;
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
  if (!checkpoint || !plan) return;
  const startTime = performance.now();
  chat?.writer.model.destroy();
  taskPlay = null;
  chat = null; // two models would not fit in memory
  const { codec, template } = checkpoint;
  const model = await openReadingModel(
    checkpoint,
    plan,
    { gpu: navigator.gpu, threads: pageThreads() },
    {
      onRead: (bytes, totalBytes) => post({ type: 'loading', bytes, totalBytes }),
      onCpuFallback: (newPlan) => {
        plan = newPlan;
        post({ type: 'measured', plan });
      },
      onLost: (reason) => {
        chat = null;
        post({
          type: 'lost',
          message: `The GPU was taken away (${reason}). Open the model again; the conversation is still here.`,
        });
      },
    },
  );
  const writer = new Writer(model, codec);
  chat = { writer, conversation: new Conversation(writer, chatOf(codec, template)) };
  const seconds = (performance.now() - startTime) / 1000;
  post({ type: 'opened', backend: model.backend, parts: model.memory, seconds });
}

/** Lets the model write, and posts its tokens one by one until it is done or the page stops it. */
async function write(by: (onWrote: OnWrote) => Promise<PauseReason>): Promise<void> {
  stopping = false;
  let [drawnTokens, seconds, last] = [0, 0, performance.now()];
  const why = await by(async (from, tokens) => {
    post({ type: 'wrote', from, tokens });
    const now = performance.now();
    if (tokens[0]?.likely) {
      drawnTokens += tokens.length;
      seconds += (now - last) / 1000;
    }
    last = now; // reading is not timed
    if (taskPlay && tokens[0]?.role !== Role.action) post({ type: 'task', task: taskPlay.state });
    await nextTask();
    return !stopping;
  });
  if (taskPlay) post({ type: 'task', task: taskPlay.state });
  post({ type: 'paused', why, tokens: drawnTokens, seconds });
}

/** Opens an environment with the chat tokenizer of the open checkpoint. */
async function envOf(name: EnvName): Promise<TaskEnv> {
  if (!checkpoint?.template) {
    throw new Error(
      'The model has no chat template, so it cannot use tools. Open a model with one, such as SmolLM2-135M-Instruct.',
    );
  }
  const { codec, template, opened } = checkpoint;
  const config = parseConfig({ env: name });
  const facts = await factsFor(config, null, shippedFile);
  return taskEnv(name, facts, { codec, template, embeddingRows: opened.model.vocab_size });
}

async function beginTask({
  env,
  asked,
  environmentSeed,
  steps,
}: Extract<SpeakerCommand, { type: 'task' }>): Promise<void> {
  if (!chat) return;
  const { writer } = chat;
  const startedPlay = new TaskPlay(writer, await envOf(env), { asked, environmentSeed, maxTurnTokens: steps });
  writer.truncate(0);
  taskPlay = startedPlay;
  await write(async (onWrote) => {
    await startedPlay.begin(onWrote);
    return 'turn';
  });
}

const { port1, port2 } = new MessageChannel();
/** Lets the event loop handle commands; a timer would wait four milliseconds. */
const nextTask = () =>
  new Promise<void>((resolve) => {
    port1.onmessage = () => resolve();
    port2.postMessage(null);
  });

function runCommand(command: Exclude<SpeakerCommand, { type: 'stop' }>): Promise<void> | void {
  switch (command.type) {
    case 'look':
      return readHeaders(command);
    case 'measure':
      return measure(command.wish);
    case 'training-plan':
      return planTraining(command.config);
    case 'open':
      return open();
    case 'clear':
      taskPlay = null;
      return chat?.writer.truncate(0);
    case 'task-form':
      return envOf(command.env).then((env) => post({ type: 'task-form', env: command.env, form: taskForm(env) }));
    case 'task':
      return beginTask(command);
    case 'play':
      return write(async (onWrote) => (await taskPlay?.play(command.turns, command.writing, onWrote)) ?? 'stopped');
    case 'type':
      return write(async (onWrote) => (await taskPlay?.playTyped(command.text, onWrote)) ?? 'stopped');
    case 'say':
      return write(async (onWrote) => (await chat?.conversation.say(command.system, command.text, command.writing, onWrote)) ?? 'stopped'); // prettier-ignore
    case 'instead': {
      const { at, token, writing } = command;
      return write(async (onWrote) => (await (taskPlay ?? chat?.conversation)?.replaceToken(at, token, writing, onWrote)) ?? 'stopped'); // prettier-ignore
    }
  }
}

postSignsOfLife(() => post({ type: 'alive' }));

let queue = Promise.resolve();
globalThis.addEventListener('message', ({ data }: MessageEvent<SpeakerCommand>) => {
  if (data.type === 'stop') {
    stopping = true;
    return;
  }
  // run one after another: the current command ends first
  queue = queue
    .then(() => runCommand(data))
    .catch((error: unknown) => post({ type: 'failed', message: reasonsOf(error).join('\n') }))
    .then(() => post({ type: 'done' }));
});
