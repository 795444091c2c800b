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
import { Watch } from './speakerWatch.ts';

/** A model that was opened. */
interface Opened {
  readonly card: ModelCard;
  readonly backend: string;
  readonly parts: MemoryPlan['parts'];
  readonly seconds: number;
  readonly plan: MemoryPlan; // it was opened by
}

interface ModelsState {
  readonly looking: string | null; // the name of what is read just now
  readonly refused: { readonly name: string; readonly reasons: readonly string[] } | null;
  readonly asked: PickedModel | null; // what is read just now, or was read last
  readonly given: PickedModel | null; // what was chosen last
  readonly card: ModelCard | null; // of that
  readonly plan: MemoryPlan | null;
  readonly training: TrainingWish | null; // what a run beside it would take, as asked last
  readonly wish: OpeningWish;
  readonly loading: { readonly bytes: number; readonly of: number } | null;
  readonly opened: Opened | null;
  readonly system: string;
  readonly words: string; // being typed
  readonly sampling: TalkSampling;
  readonly steps: number; // most tokens of a turn
  readonly passages: readonly Passage<SpokenToken>[];
  readonly looked: number | null; // the token that is looked at
  readonly writing: boolean;
  readonly paused: { readonly why: Pause; readonly tokens: number; readonly seconds: number } | null;
  readonly problem: string | null;
  readonly overdue: boolean; // the worker was asked something and has been silent for seconds
}

/** What a run under these knobs would take; null while that is worked out, and where it cannot be, with `problem`. */
interface TrainingWish {
  readonly config: RunConfig;
  readonly plan: TrainingPlan | null;
  readonly problem: string;
}

/** The checkpoint that was opened, and what is said with it; it stays when another screen is opened. */
export const useModels = create<ModelsState>()(() => ({
  looking: null,
  refused: null,
  asked: null,
  given: null,
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
  looked: null,
  writing: false,
  paused: null,
  problem: null,
  overdue: false,
}));

type TaskEvent = Extract<SpeakerEvent, { type: 'task' | 'task-form' }>;
let hearTask: (event: TaskEvent) => void = () => undefined;

/** Says who is told of tasks. */
export function onTask(listener: (event: TaskEvent) => void): void {
  hearTask = listener;
}

let client: SpeakerClient | null = null;
let takes = 0;
const watch = new Watch((overdue) => useModels.setState({ overdue }));

function send(command: SpeakerCommand): void {
  if (command.type !== 'stop') watch.asked();
  client ??= new SpeakerClient({ onEvent: hear, onLoss: lose });
  client.send(command);
}

/** Ends the worker, whatever it is doing. */
function end(): void {
  client?.terminate();
  client = null;
  watch.ended();
}

/** Ends what the worker is doing, and the worker with it: a file may keep it busy for as long as it likes. */
export function cancel(): void {
  const { looking, opened } = useModels.getState();
  const closed = opened || !looking ? ' The model is closed: open it again. Your conversation is still here.' : '';
  lose(`${looking ? `Reading ${looking} was cancelled.` : 'Cancelled.'}${closed}`);
}

/** The worker is gone, and the weights with it; what was said stays to be read. */
function lose(problem: string): void {
  end();
  useModels.setState({ problem, opened: null, loading: null, looking: null, writing: false, card: null, plan: null });
}

// tokens come faster than pages are drawn: those of a frame are drawn together
let waiting: Extract<SpeakerEvent, { type: 'wrote' }>[] = [];

function hear(event: SpeakerEvent): void {
  watch.heard(event.type === 'done');
  if (event.type === 'done') return;
  if (event.type === 'wrote') {
    if (waiting.push(event) === 1) requestAnimationFrame(take);
    return;
  }
  take();
  if (event.type === 'task' || event.type === 'task-form') hearTask(event);
  else useModels.setState(told(event));
  // a saved run that is gone on with, or knobs that ask for a checkpoint, need not ask for the file once more
  const { given } = useModels.getState();
  const beside = useLive.getState().session === 'ready' && useConfig.getState().applied?.model === 'checkpoint';
  if (event.type === 'looked' && given && !beside) setModel(given);
}

/** What an event of the worker changes. */
function told(event: Exclude<SpeakerEvent, TaskEvent | { type: 'wrote' | 'done' }>): Partial<ModelsState> {
  switch (event.type) {
    case 'looked':
      return {
        looking: null,
        refused: null,
        given: useModels.getState().asked,
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
      return { loading: null, opened, passages: [], looked: null, paused: null };
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

function take(): void {
  const events = waiting;
  waiting = [];
  if (events.length === 0) return;
  let { passages } = useModels.getState();
  for (const { from, tokens } of events) passages = extended(cutAt(passages, from), tokens);
  useModels.setState({ passages });
}

/** Reads the headers of a checkpoint's files and shows its card; a model that is open stays open. */
export function lookAt(name: string, files: PickedModel['files']): void {
  useModels.setState({ looking: name, refused: null, problem: null, asked: { name, files } });
  send({ type: 'look', name, files, wish: useModels.getState().wish });
}

/** Plans for texts of another length, or for another engine. */
export function plan(change: Partial<OpeningWish>): void {
  const wish = { ...useModels.getState().wish, ...change };
  useModels.setState({ wish });
  send({ type: 'measure', wish });
}

/** Works out what a run under these knobs would take beside what was looked at. */
export function planTraining(config: RunConfig): void {
  send({ type: 'training-plan', config });
}

/** Reads the weights of what was looked at. */
export function openModel(): void {
  useModels.setState({ loading: { bytes: 0, of: 1 }, opened: null, problem: null });
  send({ type: 'open' });
}

/** Lets the model and its memory go. */
export function closeModel(): void {
  end();
  waiting = [];
  useModels.setState({
    ...{ card: null, plan: null, opened: null, loading: null, passages: [], looked: null, writing: false },
    ...{ paused: null, problem: null, refused: null },
  });
}

/** How the model writes next, with draws of its own. */
export function writing(): Writing {
  const { sampling, steps } = useModels.getState();
  return { sampling, steps, seed: ++takes };
}

/** Sends a command of a task; with `writes` something is written by it. */
export function ask(command: SpeakerCommand, writes = false): void {
  if (useModels.getState().writing) return;
  if (writes) useModels.setState({ writing: true, paused: null, problem: null, looked: null });
  send(command);
}

/** Says what was typed. */
export function sendMessage(): void {
  const { words, system, opened, writing: busy } = useModels.getState();
  if (!opened || busy || words.trim() === '') return;
  useModels.setState({ writing: true, words: '', paused: null, problem: null, looked: null });
  send({ type: 'say', system, text: words, writing: writing() });
}

/** Puts another token in the place of one, and has the model go on from it. */
export function replaceToken(at: number, token: number): void {
  if (useModels.getState().writing) return;
  useModels.setState({ writing: true, paused: null, problem: null });
  send({ type: 'instead', at, token, writing: writing() });
}

/** Ends what the model is writing. */
export function stopWriting(): void {
  send({ type: 'stop' });
}

/** Begins a new conversation. */
export function clearText(): void {
  if (useModels.getState().writing) return;
  send({ type: 'clear' });
  useModels.setState({ passages: [], looked: null, paused: null, problem: null });
}
