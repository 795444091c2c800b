import type { RunConfig } from '../config/config.ts';
import { YOUR_ENVIRONMENT } from '../config/environments.ts';
import type { ToolEnv } from '../envs/env.ts';
import { envSettings } from '../envs/index.ts';
import { expertPlayer, playToEnd, type Player, randomPlayer, rulePlayer } from '../envs/players.ts';
import { openEpisode } from '../envs/stepper.ts';
import type { Metrics } from '../domain/metrics.ts';
import { Purpose, random } from '../base/rng.ts';
import { distinctSeeds, evaluatedReset, evaluatedTasks } from './evaluatedTasks.ts';

/** More than one, because random play varies more than the expert. */
const RANDOM_EPISODES = 4;
/** A number as a word of its own, or the slot of one that is in few tasks. */
const NUMBER = /^(?:number)?[-+]?\d+(?:\.\d+)?$/;
/** Number of tasks, about a few milliseconds, after which the event loop runs. */
const TASKS_PER_YIELD = 16;

/**
 * Measures the success of three players without a model on the evaluated tasks: the scripted expert, the simple rule if
 * the environment has one, and random play. Random play draws each token uniformly from those that the grammar mask
 * allows, even if the run has the mask off. It has its own random stream. In a person's environment also counts the
 * different numbers in the expert's episodes. Returns nothing for an environment that answers later (a server), because
 * it has no expert here, and no expert's success if the environment has none.
 */
export async function playerBaselines(
  env: ToolEnv,
  config: RunConfig,
  yieldToEvents: () => Promise<void>,
): Promise<Metrics> {
  if (env.asyncAnswers) return {};
  const begin = evaluatedReset(env);
  const conditions = { env, begin, settings: { ...envSettings(config), grammar: true } };
  const tasks = evaluatedTasks(distinctSeeds(env, begin, config), config, 'rounds');
  const { hasExpert = true } = env;
  let expertSolved = 0;
  let ruleSolved = 0;
  let randomSolved = 0;
  const numbers = new Set<string>();
  for (const { index, ...seeds } of tasks) {
    const solves = (player: Player) => playToEnd(openEpisode(conditions, seeds), player).success;
    const expert = hasExpert ? playToEnd(openEpisode(conditions, seeds), expertPlayer) : null;
    if (expert?.success) expertSolved++;
    for (const { token } of expert?.tokens ?? []) {
      const word = env.vocabulary[token] ?? '';
      if (NUMBER.test(word)) numbers.add(word);
    }
    if (env.ruleDoc !== undefined && solves(rulePlayer)) ruleSolved++;
    for (let episode = 0; episode < RANDOM_EPISODES; episode++) {
      if (solves(randomPlayer(random(config.seed, Purpose.baseline, index, episode)))) randomSolved++;
    }
    if (index % TASKS_PER_YIELD === TASKS_PER_YIELD - 1) await yieldToEvents();
  }
  return {
    ...(hasExpert && { 'baseline/expert': expertSolved / tasks.length }),
    ...(env.ruleDoc !== undefined && { 'baseline/rule': ruleSolved / tasks.length }),
    ...(env.name === YOUR_ENVIRONMENT && { 'baseline/numbers': numbers.size }),
    'baseline/random': randomSolved / (tasks.length * RANDOM_EPISODES),
  };
}
