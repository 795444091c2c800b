import { create } from 'zustand';
import { type EnvName, TEXT_ENVS } from '../../config/environments.ts';
import type { ChosenTask, AskForm } from '../../domain/taskForm.ts';
import type { TaskProgress } from '../../wire/speakerMessages.ts';
import { sendTaskCommand, onTask, useModels, nextTurnSettings } from './modelStore.ts';

interface TasksState {
  readonly env: EnvName;
  // how tasks are worded; null: they can only be chosen by number; undefined: not known yet
  readonly form: AskForm | null | undefined;
  readonly chosenBy: 'words' | 'number';
  readonly blankWords: readonly string[]; // one for each blank
  readonly seed: number;
  readonly typed: string; // the turn that the person is typing
  readonly task: TaskProgress | null; // the task being played, or finished
}

const TRAINING_SEED_LIMIT = 2 ** 31; // number of seeds of training tasks
const randomSeed = () => Math.floor(Math.random() * TRAINING_SEED_LIMIT);

export const useTasks = create<TasksState>()(() => ({
  env: 'calculator',
  form: undefined,
  chosenBy: 'number',
  blankWords: [],
  seed: 7,
  typed: '',
  task: null,
}));

onTask((event) => {
  if (event.type === 'task') useTasks.setState({ task: event.task });
  else if (event.env === useTasks.getState().env) {
    useTasks.setState({ form: event.form, blankWords: event.form?.example ?? [] });
  }
});

/** Chooses an environment and requests how its tasks are worded. */
export function chooseEnv(name: string): void {
  const env = TEXT_ENVS.find((each) => each === name);
  if (!env) return;
  useTasks.setState({ env, form: undefined, chosenBy: 'number', blankWords: [] });
  sendTaskCommand({ type: 'task-form', env });
}

export function chooseRandomTask(): void {
  useTasks.setState({ chosenBy: 'number', seed: randomSeed() });
}

/** Begins the chosen task: writes its prompt. Then it is the agent's turn. */
export function beginTask(): void {
  const { env, chosenBy, blankWords, seed } = useTasks.getState();
  const askedTask: ChosenTask = chosenBy === 'words' ? { words: blankWords } : { seed };
  useTasks.setState({ typed: '' });
  sendTaskCommand(
    { type: 'task', env, asked: askedTask, environmentSeed: seed, steps: useModels.getState().maxTokens },
    true,
  );
}

export function playTurns(turns: number): void {
  sendTaskCommand({ type: 'play', turns, writing: nextTurnSettings() }, true);
}

/** Takes the turn that was typed, in the model's place. */
export function takeTypedTurn(): void {
  const { typed } = useTasks.getState();
  useTasks.setState({ typed: '' });
  sendTaskCommand({ type: 'type', text: typed }, true);
}
