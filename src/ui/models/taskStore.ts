import { create } from 'zustand';
import { type EnvName, TEXT_ENVS } from '../../config/environments.ts';
import type { AskedTask, AskForm } from '../../domain/taskForm.ts';
import type { PlayedTask } from '../../wire/speakerMessages.ts';
import { ask, onTask, useModels, writing } from './modelStore.ts';

interface TasksState {
  readonly env: EnvName;
  readonly form: AskForm | null | undefined; // null: by its number alone; undefined: not known yet
  readonly by: 'words' | 'number';
  readonly words: readonly string[]; // one for each blank
  readonly seed: number;
  readonly typed: string; // a turn of the person's own
  readonly task: PlayedTask | null; // under way, or over
}

const SEEDS = 2 ** 31; // tasks of training have these
const anySeed = () => Math.floor(Math.random() * SEEDS);

/** The task that is chosen or played with the model that is open. */
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

/** Chooses an environment, and asks how its tasks are worded. */
export function chooseEnv(name: string): void {
  const env = TEXT_ENVS.find((each) => each === name);
  if (!env) return;
  useTasks.setState({ env, form: undefined, by: 'number', words: [] });
  ask({ type: 'task-form', env });
}

/** Another task by its number. */
export function anotherTask(): void {
  useTasks.setState({ by: 'number', seed: anySeed() });
}

/** Begins the task that is chosen: its prompt is written, and it is the agent's turn. */
export function beginTask(): void {
  const { env, by, words, seed } = useTasks.getState();
  const asked: AskedTask = by === 'words' ? { words } : { seed };
  useTasks.setState({ typed: '' });
  ask({ type: 'task', env, asked, environmentSeed: seed, steps: useModels.getState().steps }, true);
}

/** Has the model play so many turns. */
export function playTurns(turns: number): void {
  ask({ type: 'play', turns, writing: writing() }, true);
}

/** Takes the turn that was typed, in the model's place. */
export function typeTurn(): void {
  const { typed } = useTasks.getState();
  useTasks.setState({ typed: '' });
  ask({ type: 'type', text: typed }, true);
}
