import type { RunConfig } from '../config/config.ts';
import type { EnvSettings, Reset, ToolEnv } from '../envs/env.ts';
import { envSettings } from '../envs/index.ts';
import { evalTaskSeed } from './settings.ts';

export interface EvaluatedTask {
  readonly seed: number;
  /** The same in every evaluation, so that evaluations only differ by their policy. */
  readonly environmentSeed: number;
  readonly index: number; // of this episode in the evaluation, from 0
}

// When n tasks were found, more than 5·(n + 4) draws in a row without a new task end the search. If exactly one of n
// tasks is still missing, 5n random draws fail to find it about once in e⁵ ≈ 150 times.
const MISSES_PER_TASK = 5;

/** Begins an evaluation task: a held-out one, or any task if the environment holds none out. */
export function evaluatedReset(env: ToolEnv): Reset {
  return env.splits.heldOut?.reset ?? env.reset;
}

/** Returns the task's key (the `key` of its episode), which is equal for equal tasks with different seeds. */
export function taskKey(begin: Reset, seed: number, settings: EnvSettings): string {
  return begin.opener?.keyOf(seed, settings) ?? begin(seed, settings).key;
}

/**
 * Seeds of the tasks in an evaluation, all of them different tasks. `begin` draws tasks until `evalTasks` different
 * ones are found, or until it seems to have no more. If the environment holds no tasks out, the result covers all of
 * its tasks and ignores `evalTasks`, because success is then a share of all tasks.
 */
export function distinctSeeds(env: ToolEnv, begin: Reset, config: RunConfig): readonly number[] {
  const { seed, evalTasks } = config;
  if (env.taskCount !== undefined) return Array.from({ length: env.taskCount }, (_, i) => evalTaskSeed(seed, i));
  const settings = envSettings(config);
  const knownKeys = new Set<string>();
  const seeds: number[] = [];
  for (let i = 0, misses = 0; seeds.length < evalTasks && misses <= MISSES_PER_TASK * (seeds.length + 4); i++) {
    const task = evalTaskSeed(seed, i);
    const key = taskKey(begin, task, settings);
    misses = knownKeys.has(key) ? misses + 1 : 0;
    if (misses > 0) continue;
    knownKeys.add(key);
    seeds.push(task);
  }
  return seeds;
}

/**
 * The episodes of an evaluation: every task once, a number of times, or with `rounds` as many whole rounds as fit in
 * `evalTasks` episodes (at least one). Each episode has its own `environmentSeed`.
 */
export function evaluatedTasks(
  seeds: readonly number[],
  { seed: run, evalTasks }: RunConfig,
  rounds: 'once' | 'rounds' | number,
): readonly EvaluatedTask[] {
  const fitting = Math.max(1, Math.floor(evalTasks / seeds.length));
  const count = typeof rounds === 'number' ? rounds : rounds === 'once' ? 1 : fitting;
  return Array.from({ length: count * seeds.length }, (_, index) => ({
    seed: seeds[index % seeds.length] ?? 0,
    environmentSeed: evalTaskSeed(run, index),
    index,
  }));
}
