import type { PlayedEpisode } from '../domain/playedTask.ts';
import { REWARD_PARTS } from '../domain/episode.ts';
import type { Random } from '../base/rng.ts';
import type { EpisodeSeeds } from './env.ts';
import { openEpisode, type Stepper, type EpisodeConditions } from './stepper.ts';

/** A player in the agent's place. It returns the next action tokens: a whole turn or a part of one. */
export type Player = (stepper: Stepper) => readonly number[];

export const expertPlayer: Player = ({ episode }) => episode.expert();

/** The environment's simple rule. Returns no tokens if the environment has none. */
export const rulePlayer: Player = ({ episode }) => episode.rule() ?? [];

/** Makes a player that acts correctly with probability `quality`, otherwise plausibly wrong. */
export function demonstrator(quality: number, draw: Random): Player {
  return ({ episode }) => episode.demonstrate(quality, draw);
}

/** Makes a player that draws each token uniformly from the legal ones. */
export function randomPlayer(draw: Random): Player {
  return (stepper) => [draw.pick(stepper.allowed())];
}

/** Plays an episode to its end and returns it. Throws if the player returns no tokens before the end. */
export function playToEnd(stepper: Stepper, player: Player): Stepper {
  while (stepper.stop === null) {
    const tokens = player(stepper);
    if (tokens.length === 0)
      throw new Error(`playToEnd: ${stepper.env.name} turn ${stepper.turn}: the player returned no tokens.`);
    for (const token of tokens) stepper.take(token);
  }
  return stepper;
}

/**
 * Plays a task with the given action tokens. Returns the episode, with its rewards and stop reason, as a rollout with
 * these tokens and this environment seed would give it. The episode may be unfinished. Throws RangeError on a token
 * that is not legal at its position or comes after the end.
 */
export function playTokens(
  conditions: EpisodeConditions,
  seeds: EpisodeSeeds,
  tokens: readonly number[],
): PlayedEpisode {
  const stepper = openEpisode(conditions, seeds);
  for (const token of tokens) {
    if (stepper.stop === null && !stepper.allows(token)) {
      const word = conditions.env.vocabulary[token] ?? `#${token}`;
      throw new RangeError(`“${word}” is not allowed here. Choose one of the offered words.`);
    }
    stepper.take(token);
  }
  return playedOf(stepper);
}

export function playExpert(conditions: EpisodeConditions, seeds: EpisodeSeeds): PlayedEpisode {
  return playedOf(playToEnd(openEpisode(conditions, seeds), expertPlayer));
}

function playedOf(stepper: Stepper): PlayedEpisode {
  const { episode, tokens, finishedTurns, rewardSums, success, stop, turnLength } = stepper;
  return {
    question: episode.question,
    names: episode.names,
    tokens: Int32Array.from(tokens, ({ token }) => token),
    roles: Uint8Array.from(tokens, ({ role }) => role),
    turns: Uint8Array.from(tokens, ({ turn }) => turn),
    bodies: Uint8Array.from(tokens, ({ inBody }) => Number(inBody)),
    finishedTurns: finishedTurns.map(({ turn, parts: each, valid, toolCall }) => ({
      turn,
      parts: each,
      valid,
      toolCall,
    })),
    reward: REWARD_PARTS.reduce((sum, part) => sum + rewardSums[part], 0),
    success,
    stop,
    turnLength: stop === null ? turnLength : 0,
    budget: stepper.budget,
    legal: stepper.allowed(),
    view: episode.view(),
  };
}
