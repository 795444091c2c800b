import type { RunConfig } from '../config/config.ts';
import type { Reset, ToolEnv } from '../envs/env.ts';
import { envSettings } from '../envs/index.ts';
import { evalTaskSeed } from './settings.ts';

/** A task to play in an evaluation. */
export interface EvaluatedTask {
  readonly seed: number;
  readonly luck: number; // in every evaluation the same: what differs between two is the policy
  readonly index: number; // of the episode, from 0
}

// Draws in a row without a new task, for each that was found, after which there are no more: where one in n tasks is missing,
// so many miss it once in e⁵ = 150 times.
const PATIENCE = 5;

/** Begins the tasks that are evaluated: those held out, or, where none is, all. */
export function evaluatedReset(env: ToolEnv): Reset {
  return env.splits.heldOut?.reset ?? env.reset;
}

/**
 * Seeds of the tasks that an evaluation counts, no two of them the same task: `evalTasks` of those that `begin` draws, or as many
 * as there are. Where none is held out, all of them, however many the knob asks for: a share of all tasks is of all.
 */
export function distinctSeeds(env: ToolEnv, begin: Reset, config: RunConfig): readonly number[] {
  const { seed, evalTasks } = config;
  if (env.allTasks !== null) return Array.from({ length: env.allTasks }, (_, i) => evalTaskSeed(seed, i));
  const settings = envSettings(config);
  const met = new Set<string>();
  const seeds: number[] = [];
  for (let i = 0, misses = 0; seeds.length < evalTasks && misses <= PATIENCE * (seeds.length + 4); i++) {
    const task = evalTaskSeed(seed, i);
    const { key } = begin(task, settings);
    misses = met.has(key) ? misses + 1 : 0;
    if (misses > 0) continue;
    met.add(key);
    seeds.push(task);
  }
  return seeds;
}

/** Every task once; with `rounds`, as often as `evalTasks` has room for, each time with luck of its own. */
export function evaluatedTasks(
  seeds: readonly number[],
  { seed: run, evalTasks }: RunConfig,
  rounds: 'once' | 'rounds',
): readonly EvaluatedTask[] {
  const count = rounds === 'once' ? 1 : Math.max(1, Math.floor(evalTasks / seeds.length));
  return Array.from({ length: count * seeds.length }, (_, index) => ({
    seed: seeds[index % seeds.length] ?? 0,
    luck: evalTaskSeed(run, index),
    index,
  }));
}
