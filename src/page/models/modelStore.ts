import { create } from 'zustand';
import type { RunConfig } from '../../config/fields.ts';
import type { TalkSampling } from '../../domain/taskForm.ts';
import type { MemoryPlan, ModelCard, TrainingPlan } from '../../domain/modelCard.ts';
import type {
  OpeningOptions,
  PauseReason,
  SpeakerCommand,
  SpeakerEvent,
  SpokenToken,
  WriteOptions,
} from '../../wire/speakerMessages.ts';
import { MAX_SILENCE_MS, mayNeverEnd, WorkerClient } from '../browser/workerClient.ts';
import { useConfig } from '../knobs/configStore.ts';
import { setModel } from '../training/engine.ts';
import type { PickedModel } from '../../wire/readerMessages.ts';
import { useLive } from '../view/liveStore.ts';
import { noteFailure } from '../browser/newVersion.ts';
import { withTokens, type Passage } from '../../domain/textSpans.ts';
import { firstTokens } from './passageTokens.ts';

/** If the worker is silent for longer, the page offers to end it. */
const OVERDUE_MS = 3000;

/** Notices when a worker with unfinished commands has sent no message for a while. */
class AnswerWatch {
  readonly #onChange: (overdue: boolean) => void;
  #openCommands = 0; // number of unfinished commands
  #timer: ReturnType<typeof setTimeout> | null = null;
  #overdue = false;

  /** `onChange` is called when an answer becomes overdue, and when it no longer is. */
  constructor(onChange: (overdue: boolean) => void) {
    this.#onChange = onChange;
  }

  /** Call when a command was sent. */
  commandSent(): void {
    this.#openCommands++;
    if (this.#timer === null) this.#restartTimer();
  }

  /** Call when the worker sent a message; `done`: a command is finished. */
  messageReceived(done: boolean): void {
    if (done) this.#openCommands = Math.max(0, this.#openCommands - 1);
    this.#restartTimer();
  }

  /** Call when the worker has ended, and its commands with it. */
  workerEnded(): void {
    this.#openCommands = 0;
    this.#restartTimer();
  }

  #restartTimer(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = this.#openCommands > 0 ? setTimeout(() => this.#setOverdue(true), OVERDUE_MS) : null;
    this.#setOverdue(false);
  }

  #setOverdue(overdue: boolean): void {
    if (overdue === this.#overdue) return;
    this.#overdue = overdue;
    this.#onChange(overdue);
  }
}

interface OpenedModel {
  readonly card: ModelCard;
  readonly backend: string;
  readonly parts: MemoryPlan['parts'];
  readonly seconds: number;
  readonly plan: MemoryPlan; // the plan it was opened with
}

/** A model that can't be opened, and why. */
export interface ModelRefusal {
  readonly name: string;
  readonly reasons: readonly string[];
}

interface ModelsState {
  readonly readingName: string | null; // name of the model whose headers are being read
  readonly refusal: ModelRefusal | null;
  readonly lastRead: PickedModel | null; // the model that is being read or was read last
  readonly pickedModel: PickedModel | null; // the model that was chosen last
  readonly card: ModelCard | null; // of `pickedModel`
  readonly plan: MemoryPlan | null;
  // the cost of training adapters for `card` with the knobs that `planTraining` was called with last
  readonly training: TrainingCost | null;
  readonly openingWish: OpeningOptions;
  readonly loading: { readonly bytes: number; readonly of: number } | null;
  readonly opened: OpenedModel | null;
  readonly systemPrompt: string;
  readonly typedText: string; // the message that the person is typing
  readonly sampling: TalkSampling;
  readonly maxTokens: number; // in a turn
  readonly passages: readonly Passage<SpokenToken>[];
  readonly selectedToken: number | null; // its position in the text
  readonly writing: boolean;
  readonly lastPause: { readonly why: PauseReason; readonly tokens: number; readonly seconds: number } | null;
  readonly problem: string | null;
  readonly overdue: boolean; // the worker hasn't answered for seconds
}

/** The cost of a run with these knobs. `plan` is null while it is computed, and if it can't be; then see `problem`. */
interface TrainingCost {
  readonly config: RunConfig;
  readonly plan: TrainingPlan | null;
  readonly problem: string;
}

/** The open checkpoint and the conversation with it. They stay when another screen is opened. */
export const useModels = create<ModelsState>()(() => ({
  readingName: null,
  refusal: null,
  lastRead: null,
  pickedModel: null,
  card: null,
  plan: null,
  training: null,
  openingWish: { length: 1024, engine: null },
  loading: null,
  opened: null,
  systemPrompt: '',
  typedText: '',
  sampling: { temperature: 0.7, topK: 0, topP: 0.9, greedy: false },
  maxTokens: 256,
  passages: [],
  selectedToken: null,
  writing: false,
  lastPause: null,
  problem: null,
  overdue: false,
}));

type TaskEvent = Extract<SpeakerEvent, { type: 'task' | 'task-form' }>;
let taskListener: (event: TaskEvent) => void = () => undefined;

export function onTask(listener: (event: TaskEvent) => void): void {
  taskListener = listener;
}

let client: WorkerClient<SpeakerCommand, SpeakerEvent> | null = null;
let seedCount = 0; // number of seeds used so far; each turn takes the next
const watch = new AnswerWatch((overdue) => useModels.setState({ overdue }));

function send(command: SpeakerCommand): void {
  if (command.type !== 'stop') watch.commandSent();
  client ??= new WorkerClient(
    'The worker that reads the model',
    () => new Worker(new URL('../../speaker.ts', import.meta.url), { type: 'module', name: 'speaking' }),
    { onEvent: handleEvent, onLoss: (reason, hung) => handleLoss(hung ? hungText(reason) : reason) },
  );
  client.send(command);
}

/** Ends the worker, whatever it is doing. */
function endWorker(): void {
  client?.terminate();
  client = null;
  watch.workerEnded();
}

/** Cancels the worker's work. This ends the worker, because a file could keep it busy forever. */
export function cancel(): void {
  const { readingName } = useModels.getState();
  handleLoss(`${readingName ? `Reading ${readingName} was cancelled.` : 'Cancelled.'}${closedText()}`);
}

/** What happened to the open model when the worker was ended. */
function closedText(): string {
  const { readingName, opened } = useModels.getState();
  return opened || !readingName ? ' The model is closed: open it again. Your conversation is still here.' : '';
}

/** Text about a worker that was ended because it was silent while it read a file. */
function hungText(reason: string): string {
  return `${reason} ${mayNeverEnd(useModels.getState().readingName ?? 'the file')}${closedText()}`;
}

/** Handles the loss of the worker and its weights. The conversation stays readable. */
function handleLoss(problem: string): void {
  endWorker();
  useModels.setState({
    problem,
    opened: null,
    loading: null,
    readingName: null,
    writing: false,
    card: null,
    plan: null,
  });
}

// tokens arrive faster than the page is painted, so all tokens of a frame are shown together
let unshownEvents: Extract<SpeakerEvent, { type: 'wrote' }>[] = [];

function handleEvent(event: SpeakerEvent): void {
  if (event.type === 'alive') return;
  if (event.type === 'looked' || event.type === 'refused') client?.limitSilence(null);
  watch.messageReceived(event.type === 'done');
  if (event.type === 'done') return;
  if (event.type === 'wrote') {
    if (unshownEvents.push(event) === 1) requestAnimationFrame(flushTokens);
    return;
  }
  flushTokens();
  if (event.type === 'task' || event.type === 'task-form') taskListener(event);
  else useModels.setState(changesAfter(event));
  // hand the checkpoint to the lab, so that a saved run or knobs that need it don't ask for the file again
  const { pickedModel } = useModels.getState();
  const trainsCheckpoint =
    useLive.getState().session === 'ready' && useConfig.getState().applied?.model === 'checkpoint';
  if (event.type === 'looked' && pickedModel && !trainsCheckpoint) setModel(pickedModel);
}

/** The changes of the store for an event of the worker. */
function changesAfter(
  event: Exclude<SpeakerEvent, TaskEvent | { type: 'wrote' | 'done' | 'alive' }>,
): Partial<ModelsState> {
  switch (event.type) {
    case 'looked':
      return {
        readingName: null,
        refusal: null,
        pickedModel: useModels.getState().lastRead,
        training: null,
        card: event.card,
        plan: event.plan,
      };
    case 'refused':
      return { readingName: null, refusal: { name: event.name, reasons: event.reasons } };
    case 'training-plan':
      return { training: event };
    case 'measured':
      return { plan: event.plan };
    case 'loading':
      return { loading: { bytes: event.bytes, of: event.totalBytes } };
    case 'opened': {
      const { card, plan } = useModels.getState();
      const opened = card && plan && { card, plan, backend: event.backend, parts: event.parts, seconds: event.seconds };
      return { loading: null, opened, passages: [], selectedToken: null, lastPause: null };
    }
    case 'paused':
      return { writing: false, lastPause: event };
    case 'lost':
      return { opened: null, writing: false, problem: event.message };
    case 'failed':
      void noteFailure(event.message);
      return { writing: false, loading: null, problem: event.message };
  }
}

function flushTokens(): void {
  const events = unshownEvents;
  unshownEvents = [];
  if (events.length === 0) return;
  let { passages } = useModels.getState();
  for (const { from, tokens } of events) passages = withTokens(firstTokens(passages, from), tokens);
  useModels.setState({ passages });
}

/** Reads the headers of a checkpoint's files and shows its card. A model that is already open stays open. */
export function readHeaders(name: string, files: PickedModel['files']): void {
  useModels.setState({ readingName: name, refusal: null, problem: null, lastRead: { name, files } });
  send({ type: 'look', name, files, wish: useModels.getState().openingWish });
  client?.limitSilence(MAX_SILENCE_MS);
}

/** Computes the memory plan again, for another length of text or another engine. */
export function planMemory(change: Partial<OpeningOptions>): void {
  const openingWish = { ...useModels.getState().openingWish, ...change };
  useModels.setState({ openingWish });
  send({ type: 'measure', wish: openingWish });
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
  unshownEvents = [];
  useModels.setState({
    ...{ card: null, plan: null, opened: null, loading: null, passages: [], selectedToken: null, writing: false },
    ...{ lastPause: null, problem: null, refusal: null },
  });
}

/** The settings for the model's next turn, with a new seed. */
export function nextTurnSettings(): WriteOptions {
  const { sampling, maxTokens } = useModels.getState();
  return { sampling, steps: maxTokens, seed: ++seedCount };
}

/** Sends a command about a task, unless the model is writing. `writes`: the command adds text. */
export function sendTaskCommand(command: SpeakerCommand, writes = false): void {
  if (useModels.getState().writing) return;
  if (writes) useModels.setState({ writing: true, lastPause: null, problem: null, selectedToken: null });
  send(command);
}

/** Sends the typed text to the model. */
export function sendMessage(): void {
  const { typedText, systemPrompt, opened, writing: busy } = useModels.getState();
  if (!opened || busy || typedText.trim() === '') return;
  useModels.setState({ writing: true, typedText: '', lastPause: null, problem: null, selectedToken: null });
  send({ type: 'say', system: systemPrompt, text: typedText, writing: nextTurnSettings() });
}

/** Replaces a token and lets the model continue from there. */
export function replaceToken(at: number, token: number): void {
  if (useModels.getState().writing) return;
  useModels.setState({ writing: true, lastPause: null, problem: null });
  send({ type: 'instead', at, token, writing: nextTurnSettings() });
}

/** Stops the model's current turn. */
export function stopWriting(): void {
  send({ type: 'stop' });
}

/** Begins a new conversation. */
export function clearText(): void {
  if (useModels.getState().writing) return;
  send({ type: 'clear' });
  useModels.setState({ passages: [], selectedToken: null, lastPause: null, problem: null });
}
