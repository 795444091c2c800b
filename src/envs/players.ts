import type { PlayedEpisode } from '../domain/playedTask.ts';
import { REWARD_PARTS } from '../domain/episode.ts';
import type { Random } from '../base/rng.ts';
import type { EpisodeSeeds } from './env.ts';
import { openEpisode, type Stepper, type EpisodeConditions } from './stepper.ts';

/** Who is in the agent's place: what is written next, a turn or a part of one. */
export type Player = (stepper: Stepper) => readonly number[];

/** The scripted expert. */
export const expert: Player = ({ episode }) => episode.expert();

/** The environment's simple rule, where it has one. */
export const rule: Player = ({ episode }) => episode.rule() ?? [];

/** Who does the right thing with probability `quality`, else something plausible. */
export function demonstrator(quality: number, draw: Random): Player {
  return ({ episode }) => episode.demonstrate(quality, draw);
}

/** Who draws each token uniformly from those that are legal. */
export function randomPlayer(draw: Random): Player {
  return (stepper) => [draw.pick(stepper.allowed())];
}

/** Plays an episode to its end, and returns it. Throws when the player has nothing to say before it is over. */
export function playOut(stepper: Stepper, player: Player): Stepper {
  while (stepper.stop === null) {
    const tokens = player(stepper);
    if (tokens.length === 0)
      throw new Error(`playOut: ${stepper.env.name} turn ${stepper.turn}: the player is silent.`);
    for (const token of tokens) stepper.take(token);
  }
  return stepper;
}

/**
 * Plays a task with the given tokens in the agent's place, as far as they go: the episode that a rollout with these tokens and
 * this environment seed would be, its rewards and its end included. Throws on a token that is not legal where it stands or comes after the end.
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
      throw new RangeError(`“${word}” cannot stand here; choose one of the words that are offered.`);
    }
    stepper.take(token);
  }
  return playedOf(stepper);
}

/** A task as the scripted expert plays it. */
export function playExpert(conditions: EpisodeConditions, seeds: EpisodeSeeds): PlayedEpisode {
  return playedOf(playOut(openEpisode(conditions, seeds), expert));
}

/** What the page shows of an episode. */
function playedOf(stepper: Stepper): PlayedEpisode {
  const { episode, written, taken, parts, success, stop, draft } = stepper;
  return {
    question: episode.question,
    names: episode.names,
    tokens: Int32Array.from(written, ({ token }) => token),
    roles: Uint8Array.from(written, ({ role }) => role),
    turns: Uint8Array.from(written, ({ turn }) => turn),
    paid: taken.map(({ turn, parts: each, valid, toolCall }) => ({ turn, parts: each, valid, toolCall })),
    reward: REWARD_PARTS.reduce((sum, part) => sum + parts[part], 0),
    success,
    stop,
    draft: stop === null ? draft : 0,
    budget: stepper.budget,
    legal: stepper.allowed(),
    view: episode.view(),
  };
}
