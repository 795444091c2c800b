import { create } from 'zustand';
import { type EnvName, TEXT_ENVS } from '../../config/environments.ts';
import type { AskedTask, AskForm } from '../../domain/taskForm.ts';
import type { PlayedTask } from '../../wire/speakerMessages.ts';
import { ask, onTask, useModels, writing } from './modelStore.ts';

interface TasksState {
  readonly env: EnvName;
  // how tasks are worded; null: they can only be chosen by number; undefined: not known yet
  readonly form: AskForm | null | undefined;
  readonly by: 'words' | 'number';
  readonly words: readonly string[]; // one for each blank
  readonly seed: number;
  readonly typed: string; // the turn that the person is typing
  readonly task: PlayedTask | null; // the task being played, or finished
}

const TRAINING_SEEDS = 2 ** 31; // number of seeds of training tasks
const randomSeed = () => Math.floor(Math.random() * TRAINING_SEEDS);

/** The task that is chosen or played with the open model. */
export const useTasks = create<TasksState>()(() => ({
  env: 'calculator',
  form: undefined,
  by: 'number',
  words: [],
  seed: 7,
  typed: '',
  task: null,
}));

onTask((event) => {
  if (event.type === 'task') useTasks.setState({ task: event.task });
  else if (event.env === useTasks.getState().env) {
    useTasks.setState({ form: event.form, words: event.form?.example ?? [] });
  }
});

/** Chooses an environment and requests how its tasks are worded. */
export function chooseEnv(name: string): void {
  const env = TEXT_ENVS.find((each) => each === name);
  if (!env) return;
  useTasks.setState({ env, form: undefined, by: 'number', words: [] });
  ask({ type: 'task-form', env });
}

/** Chooses a random task by its number. */
export function anotherTask(): void {
  useTasks.setState({ by: 'number', seed: randomSeed() });
}

/** Begins the chosen task: writes its prompt. Then it is the agent's turn. */
export function beginTask(): void {
  const { env, by, words, seed } = useTasks.getState();
  const asked: AskedTask = by === 'words' ? { words } : { seed };
  useTasks.setState({ typed: '' });
  ask({ type: 'task', env, asked, environmentSeed: seed, steps: useModels.getState().steps }, true);
}

/** Lets the model play a number of turns. */
export function playTurns(turns: number): void {
  ask({ type: 'play', turns, writing: writing() }, true);
}

/** Takes the turn that was typed, in the model's place. */
export function typeTurn(): void {
  const { typed } = useTasks.getState();
  useTasks.setState({ typed: '' });
  ask({ type: 'type', text: typed }, true);
}
