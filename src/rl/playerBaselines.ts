import type { RunConfig } from '../config/config.ts';
import type { ToolEnv } from '../envs/env.ts';
import { envSettings } from '../envs/index.ts';
import { expert, playOut, type Player, randomPlayer, rule } from '../envs/players.ts';
import { openEpisode } from '../envs/stepper.ts';
import type { Metrics } from '../domain/metrics.ts';
import { Purpose, random } from '../base/rng.ts';
import { distinctSeeds, evaluatedReset, evaluatedTasks } from './evaluatedTasks.ts';

/** Random games of each task: chance is noisier than an expert. */
const RANDOM_EPISODES = 4;
/** Tasks between two breaths: a few milliseconds. */
const BREATH = 16;

/**
 * What those without a model make of the tasks that are evaluated: the scripted expert, a simple rule where there is one, and a player who draws each token uniformly from
 * those the grammar mask lets through, whether or not the run has it on. Draws come from a stream of their own. Empty for an environment that answers later:
 * its rules are elsewhere, and so would be an expert.
 */
export async function playerBaselines(env: ToolEnv, config: RunConfig, breathe: () => Promise<void>): Promise<Metrics> {
  if (env.later) return {};
  const begin = evaluatedReset(env);
  const table = { env, begin, settings: { ...envSettings(config), grammar: true } };
  const tasks = evaluatedTasks(distinctSeeds(env, begin, config), config, 'rounds');
  let expertSolved = 0;
  let ruleSolved = 0;
  let randomSolved = 0;
  for (const { index, ...seeds } of tasks) {
    const solves = (player: Player) => playOut(openEpisode(table, seeds), player).success;
    if (solves(expert)) expertSolved++;
    if (env.rule !== null && solves(rule)) ruleSolved++;
    for (let episode = 0; episode < RANDOM_EPISODES; episode++) {
      if (solves(randomPlayer(random(config.seed, Purpose.baseline, index, episode)))) randomSolved++;
    }
    if (index % BREATH === BREATH - 1) await breathe();
  }
  return {
    'baseline/expert': expertSolved / tasks.length,
    ...(env.rule !== null && { 'baseline/rule': ruleSolved / tasks.length }),
    'baseline/random': randomSolved / (tasks.length * RANDOM_EPISODES),
  };
}
