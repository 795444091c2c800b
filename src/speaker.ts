import type { MemoryPlan } from './domain/modelCard.ts';
import type { ByteSource } from './formats/byteSource.ts';
import { FormatError } from './formats/problem.ts';
import { BackendError } from './model/policy.ts';
import { modelCard } from './speaking/card.ts';
import { chatOf } from './speaking/chat.ts';
import { Conversation } from './speaking/conversation.ts';
import { memoryPlan, openReadingModel } from './speaking/readingModel.ts';
import { openTextCheckpoint, type TextCheckpoint } from './speaking/textCheckpoint.ts';
import { type OnWrote, Writer } from './speaking/writer.ts';
import type { PickedFile } from './wire/reading.ts';
import type { OpeningWish, Pause, SpeakerCommand, SpeakerEvent } from './wire/speaking.ts';

/** The worker that reads checkpoints and speaks for them: training has its own, and hears nothing of it. */
let looked: TextCheckpoint | null = null;
let plan: MemoryPlan | null = null;
let talk: { readonly writer: Writer; readonly conversation: Conversation } | null = null;
let stopping = false;

const post = (event: SpeakerEvent) => globalThis.postMessage(event);

function sourceOf({ file, path }: PickedFile): ByteSource {
  return {
    name: path,
    size: file.size,
    read: async (begin, end) => new Uint8Array(await file.slice(begin, end).arrayBuffer()),
  };
}

/** What to tell a person of an error, a line each. */
function reasonsOf(error: unknown): readonly string[] {
  if (error instanceof FormatError) return error.message.split('\n');
  if (error instanceof BackendError) return [`${error.message} ${error.hint}`];
  return [error instanceof Error ? error.message : String(error)];
}

async function look({ name, files, wish }: Extract<SpeakerCommand, { type: 'look' }>): Promise<void> {
  try {
    const placed = files.map((file) => ({ path: file.path, source: sourceOf(file) }));
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

async function open(): Promise<void> {
  if (!looked || !plan) return;
  const begun = performance.now();
  talk?.writer.model.destroy();
  talk = null; // two models at once would not fit
  const { codec, template } = looked;
  const model = await openReadingModel(looked, plan, navigator.gpu, {
    onRead: (bytes, of) => post({ type: 'loading', bytes, of }),
    onLost: (reason) => {
      talk = null;
      post({
        type: 'lost',
        message: `The GPU was taken away (${reason}). Open the model again; what was said is still here.`,
      });
    },
  });
  const writer = new Writer(model, codec);
  talk = { writer, conversation: new Conversation(writer, chatOf(codec, template)) };
  const seconds = (performance.now() - begun) / 1000;
  post({ type: 'opened', backend: model.backend, parts: model.memory, seconds });
}

/** Writes, and tells of it token by token until it is over or the page wants it to stop. */
async function write(by: (onWrote: OnWrote) => Promise<Pause>): Promise<void> {
  stopping = false;
  let [drawn, begun] = [0, 0];
  const why = await by(async (from, tokens) => {
    post({ type: 'wrote', from, tokens });
    if (tokens[0]?.likely === null) begun = performance.now();
    else drawn += tokens.length;
    await nextTask();
    return !stopping;
  });
  post({ type: 'paused', why, tokens: drawn, seconds: (performance.now() - begun) / 1000 });
}

const { port1, port2 } = new MessageChannel();
/** Lets commands in; a timer would wait four milliseconds. */
const nextTask = () =>
  new Promise<void>((resolve) => {
    port1.onmessage = () => resolve();
    port2.postMessage(null);
  });

function obey(command: SpeakerCommand): Promise<void> | void {
  switch (command.type) {
    case 'look':
      return look(command);
    case 'measure':
      return measure(command.wish);
    case 'open':
      return open();
    case 'clear':
      return talk?.writer.keep(0);
    case 'say':
      return write(
        async (onWrote) =>
          (await talk?.conversation.say(command.system, command.text, command.writing, onWrote)) ?? 'stopped',
      );
    case 'instead':
      return write(
        async (onWrote) =>
          (await talk?.conversation.instead(command.at, command.token, command.writing, onWrote)) ?? 'stopped',
      );
    case 'stop':
  }
}

let queue = Promise.resolve();
globalThis.addEventListener('message', ({ data }: MessageEvent<SpeakerCommand>) => {
  if (data.type === 'stop') stopping = true;
  // one after the other: what is under way ends first
  queue = queue
    .then(() => obey(data))
    .catch((error: unknown) => post({ type: 'failed', message: reasonsOf(error).join('\n') }));
});
