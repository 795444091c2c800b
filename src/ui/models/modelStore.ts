import { create } from 'zustand';
import type { RunConfig } from '../../config/fields.ts';
import type { TalkSampling } from '../../domain/taskForm.ts';
import type { MemoryPlan, ModelCard } from '../../domain/modelCard.ts';
import type { TrainingPlan } from '../../domain/trainingPlan.ts';
import type {
  OpeningWish,
  Pause,
  SpeakerCommand,
  SpeakerEvent,
  SpokenToken,
  Writing,
} from '../../wire/speakerMessages.ts';
import { SpeakerClient } from './speakerClient.ts';
import { useConfig } from '../knobs/configStore.ts';
import { setModel } from '../run/engine.ts';
import type { PickedModel } from '../run/pickedModel.ts';
import { useLive } from '../run/liveStore.ts';
import { noteFailure } from '../shell/newVersion.ts';
import { cutAt, extended, type Passage } from '../../domain/textSpans.ts';

/** If the worker is silent for longer, the page offers to end it. */
const OVERDUE_MS = 3000;

/** Notices when a worker with unfinished commands has sent no message for a while. */
class Watch {
  readonly #onChange: (overdue: boolean) => void;
  #open = 0; // number of unfinished commands
  #timer: ReturnType<typeof setTimeout> | null = null;
  #overdue = false;

  /** `onChange` is called when an answer becomes overdue, and when it no longer is. */
  constructor(onChange: (overdue: boolean) => void) {
    this.#onChange = onChange;
  }

  /** Call when a command was sent. */
  asked(): void {
    this.#open++;
    if (this.#timer === null) this.#begin();
  }

  /** Call when the worker sent a message; `done`: a command is finished. */
  heard(done: boolean): void {
    if (done) this.#open = Math.max(0, this.#open - 1);
    this.#begin();
  }

  /** Call when the worker has ended, and its commands with it. */
  ended(): void {
    this.#open = 0;
    this.#begin();
  }

  #begin(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = this.#open > 0 ? setTimeout(() => this.#say(true), OVERDUE_MS) : null;
    this.#say(false);
  }

  #say(overdue: boolean): void {
    if (overdue === this.#overdue) return;
    this.#overdue = overdue;
    this.#onChange(overdue);
  }
}

/** A model that was opened. */
interface Opened {
  readonly card: ModelCard;
  readonly backend: string;
  readonly parts: MemoryPlan['parts'];
  readonly seconds: number;
  readonly plan: MemoryPlan; // the plan it was opened with
}

/** A model that can't be opened, and why. */
export interface Refusal {
  readonly name: string;
  readonly reasons: readonly string[];
}

interface ModelsState {
  readonly looking: string | null; // name of the model whose headers are being read
  readonly refused: Refusal | null;
  readonly lastRead: PickedModel | null; // the model that is being read or was read last
  readonly pickedModel: PickedModel | null; // the model that was chosen last
  readonly card: ModelCard | null; // of `pickedModel`
  readonly plan: MemoryPlan | null;
  // the cost of training adapters for `card`, for the knobs that were asked about last
  readonly training: TrainingWish | null;
  readonly wish: OpeningWish;
  readonly loading: { readonly bytes: number; readonly of: number } | null;
  readonly opened: Opened | null;
  readonly system: string;
  readonly words: string; // the text being typed
  readonly sampling: TalkSampling;
  readonly steps: number; // largest number of tokens in a turn
  readonly passages: readonly Passage<SpokenToken>[];
  readonly selected: number | null; // the selected token
  readonly writing: boolean;
  readonly paused: { readonly why: Pause; readonly tokens: number; readonly seconds: number } | null;
  readonly problem: string | null;
  readonly overdue: boolean; // the worker hasn't answered for seconds
}

/** The cost of a run with these knobs. Null while it's being computed, and if it can't be; `problem` then says why. */
interface TrainingWish {
  readonly config: RunConfig;
  readonly plan: TrainingPlan | null;
  readonly problem: string;
}

/** The open checkpoint and the conversation with it. They stay when another screen is opened. */
export const useModels = create<ModelsState>()(() => ({
  looking: null,
  refused: null,
  lastRead: null,
  pickedModel: null,
  card: null,
  plan: null,
  training: null,
  wish: { length: 1024, engine: null },
  loading: null,
  opened: null,
  system: '',
  words: '',
  sampling: { temperature: 0.7, topK: 0, topP: 0.9, greedy: false },
  steps: 256,
  passages: [],
  selected: null,
  writing: false,
  paused: null,
  problem: null,
  overdue: false,
}));

type TaskEvent = Extract<SpeakerEvent, { type: 'task' | 'task-form' }>;
let hearTask: (event: TaskEvent) => void = () => undefined;

/** Sets the listener for events of tasks. */
export function onTask(listener: (event: TaskEvent) => void): void {
  hearTask = listener;
}

let client: SpeakerClient | null = null;
let turnSeeds = 0; // number of seeds used so far; each turn takes the next
const watch = new Watch((overdue) => useModels.setState({ overdue }));

function send(command: SpeakerCommand): void {
  if (command.type !== 'stop') watch.asked();
  client ??= new SpeakerClient({ onEvent: handleEvent, onLoss: handleLoss });
  client.send(command);
}

/** Ends the worker, whatever it is doing. */
function endWorker(): void {
  client?.terminate();
  client = null;
  watch.ended();
}

/** Cancels the worker's work. This ends the worker, because a file could keep it busy forever. */
export function cancel(): void {
  const { looking, opened } = useModels.getState();
  const closed = opened || !looking ? ' The model is closed: open it again. Your conversation is still here.' : '';
  handleLoss(`${looking ? `Reading ${looking} was cancelled.` : 'Cancelled.'}${closed}`);
}

/** Handles the loss of the worker and its weights. The conversation stays readable. */
function handleLoss(problem: string): void {
  endWorker();
  useModels.setState({ problem, opened: null, loading: null, looking: null, writing: false, card: null, plan: null });
}

// tokens arrive faster than the page is drawn, so all tokens of a frame are shown together
let undrawn: Extract<SpeakerEvent, { type: 'wrote' }>[] = [];

function handleEvent(event: SpeakerEvent): void {
  watch.heard(event.type === 'done');
  if (event.type === 'done') return;
  if (event.type === 'wrote') {
    if (undrawn.push(event) === 1) requestAnimationFrame(flushTokens);
    return;
  }
  flushTokens();
  if (event.type === 'task' || event.type === 'task-form') hearTask(event);
  else useModels.setState(changesFor(event));
  // hand the checkpoint to the lab, so that a saved run or knobs that need it don't ask for the file again
  const { pickedModel } = useModels.getState();
  const trainsCheckpoint =
    useLive.getState().session === 'ready' && useConfig.getState().applied?.model === 'checkpoint';
  if (event.type === 'looked' && pickedModel && !trainsCheckpoint) setModel(pickedModel);
}

/** The changes of the store for an event of the worker. */
function changesFor(event: Exclude<SpeakerEvent, TaskEvent | { type: 'wrote' | 'done' }>): Partial<ModelsState> {
  switch (event.type) {
    case 'looked':
      return {
        looking: null,
        refused: null,
        pickedModel: useModels.getState().lastRead,
        training: null,
        card: event.card,
        plan: event.plan,
      };
    case 'refused':
      return { looking: null, refused: { name: event.name, reasons: event.reasons } };
    case 'training-plan':
      return { training: event };
    case 'measured':
      return { plan: event.plan };
    case 'loading':
      return { loading: { bytes: event.bytes, of: event.of } };
    case 'opened': {
      const { card, plan } = useModels.getState();
      const opened = card && plan && { card, plan, backend: event.backend, parts: event.parts, seconds: event.seconds };
      return { loading: null, opened, passages: [], selected: null, paused: null };
    }
    case 'paused':
      return { writing: false, paused: event };
    case 'lost':
      return { opened: null, writing: false, problem: event.message };
    case 'failed':
      void noteFailure(event.message);
      return { writing: false, loading: null, problem: event.message };
  }
}

function flushTokens(): void {
  const events = undrawn;
  undrawn = [];
  if (events.length === 0) return;
  let { passages } = useModels.getState();
  for (const { from, tokens } of events) passages = extended(cutAt(passages, from), tokens);
  useModels.setState({ passages });
}

/** Reads the headers of a checkpoint's files and shows its card. A model that is already open stays open. */
export function lookAt(name: string, files: PickedModel['files']): void {
  useModels.setState({ looking: name, refused: null, problem: null, lastRead: { name, files } });
  send({ type: 'look', name, files, wish: useModels.getState().wish });
}

/** Computes the memory plan again, for another length of text or another engine. */
export function plan(change: Partial<OpeningWish>): void {
  const wish = { ...useModels.getState().wish, ...change };
  useModels.setState({ wish });
  send({ type: 'measure', wish });
}

/** Computes the cost of training adapters for the chosen model with these knobs. */
export function planTraining(config: RunConfig): void {
  send({ type: 'training-plan', config });
}

/** Reads the weights of the chosen model. */
export function openModel(): void {
  useModels.setState({ loading: { bytes: 0, of: 1 }, opened: null, problem: null });
  send({ type: 'open' });
}

/** Closes the model and frees its memory. */
export function closeModel(): void {
  endWorker();
  undrawn = [];
  useModels.setState({
    ...{ card: null, plan: null, opened: null, loading: null, passages: [], selected: null, writing: false },
    ...{ paused: null, problem: null, refused: null },
  });
}

/** The settings for the model's next turn, with a new seed. */
export function writing(): Writing {
  const { sampling, steps } = useModels.getState();
  return { sampling, steps, seed: ++turnSeeds };
}

/** Sends a command about a task, unless the model is writing. `writes`: the command adds text. */
export function ask(command: SpeakerCommand, writes = false): void {
  if (useModels.getState().writing) return;
  if (writes) useModels.setState({ writing: true, paused: null, problem: null, selected: null });
  send(command);
}

/** Sends the typed text to the model. */
export function sendMessage(): void {
  const { words, system, opened, writing: busy } = useModels.getState();
  if (!opened || busy || words.trim() === '') return;
  useModels.setState({ writing: true, words: '', paused: null, problem: null, selected: null });
  send({ type: 'say', system, text: words, writing: writing() });
}

/** Replaces a token and lets the model continue from there. */
export function replaceToken(at: number, token: number): void {
  if (useModels.getState().writing) return;
  useModels.setState({ writing: true, paused: null, problem: null });
  send({ type: 'instead', at, token, writing: writing() });
}

/** Stops the model's current turn. */
export function stopWriting(): void {
  send({ type: 'stop' });
}

/** Begins a new conversation. */
export function clearText(): void {
  if (useModels.getState().writing) return;
  send({ type: 'clear' });
  useModels.setState({ passages: [], selected: null, paused: null, problem: null });
}
