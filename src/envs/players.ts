import type { RewardPart, StopReason } from '../domain/episode.ts';
import type { PlayedEpisode } from '../domain/played.ts';
import type { Random } from '../base/rng.ts';
import { type Grammar, Role } from '../domain/tokens.ts';
import type { EnvSettings, Episode, ToolEnv, TurnResult } from './env.ts';
import type { EpisodeSeeds } from './turnRules.ts';

/**
 * Plays a task with the given tokens in the agent's place, as far as they go: the episode that a rollout with these tokens and
 * this luck would be, its rewards and its end included. Throws on a token that is not legal where it stands or comes after the end.
 */
export function playTokens(
  env: ToolEnv,
  settings: EnvSettings,
  { seed, luck }: EpisodeSeeds,
  given: readonly number[],
): PlayedEpisode {
  const episode = env.reset(seed, settings, luck);
  const grammar = env.grammar(settings.grammar);
  const tokens: number[] = [];
  const roles: number[] = [];
  const turns: number[] = [];
  const paid: PlayedEpisode['paid'][number][] = [];
  let state = episode.state;
  let turn = 1;
  let action: number[] = [];
  let stop: StopReason | null = null;
  let success = false;
  const write = (token: number, role: Role, at: number) => {
    tokens.push(token);
    roles.push(role);
    turns.push(at);
  };
  for (const token of episode.prompt) write(token, Role.prompt, 0);
  for (const token of given) {
    if (stop !== null) throw new RangeError(`playTokens: got token ${token} after the end; want none.`);
    state = grammar.next[state * grammar.vocabulary + token] ?? -1;
    if (state < 0) {
      const word = env.vocabulary[token] ?? `#${token}`;
      throw new RangeError(`“${word}” cannot stand here; choose one of the words that are offered.`);
    }
    write(token, Role.action, turn);
    action.push(token);
    const full = tokens.length >= env.maxTokens;
    if (grammar.stop[state] !== 1 && action.length < env.maxTurnTokens) {
      if (full) stop = 'tokens'; // cut inside a turn: no tool runs
      continue;
    }
    const result = episode.step(action, settings);
    paid.push({ turn, parts: result.parts, valid: result.valid, toolCall: result.toolCall });
    success = result.success;
    const room = tokens.length + result.observation.length < env.maxTokens;
    stop = result.stop ?? (room ? null : 'tokens');
    if (stop !== null) continue;
    for (const observed of result.observation) write(observed, Role.observation, turn);
    turn++;
    action = [];
    state = result.state;
  }
  return {
    question: episode.question,
    names: episode.names,
    tokens: Int32Array.from(tokens),
    roles: Uint8Array.from(roles),
    turns: Uint8Array.from(turns),
    paid,
    reward: paid.reduce((sum, { parts }) => sum + total(parts), 0),
    success,
    stop,
    draft: stop === null ? action.length : 0,
    legal: stop === null ? legalIn(grammar, state) : [],
    view: episode.view(),
  };
}

/** The agent's tokens in an episode that the scripted expert plays. */
export function expertTokens(env: ToolEnv, settings: EnvSettings, { seed, luck }: EpisodeSeeds): readonly number[] {
  const episode = env.reset(seed, settings, luck);
  const tokens: number[] = [];
  playOut(episode, settings, () => {
    const action = episode.expert();
    tokens.push(...action);
    return action;
  });
  return tokens;
}

/** Plays an episode to its end; `turn` says what is done in a grammar state. Returns what the last turn led to. */
export function playOut(
  episode: Episode,
  settings: EnvSettings,
  turn: (state: number) => readonly number[],
): TurnResult {
  for (let state = episode.state; ;) {
    const result = episode.step(turn(state), settings);
    if (result.stop !== null) return result;
    state = result.state;
  }
}

/** A player who draws each token uniformly from those that are legal; a turn at most `longest` tokens long. */
export function randomPlayer(grammar: Grammar, longest: number): (state: number, draw: Random) => readonly number[] {
  const known = new Map<number, readonly number[]>();
  return (from, draw) => {
    const action: number[] = [];
    for (let state = from; grammar.stop[state] !== 1 && action.length < longest;) {
      const legal = known.get(state) ?? legalIn(grammar, state);
      known.set(state, legal);
      const token = draw.pick(legal);
      action.push(token);
      state = grammar.next[state * grammar.vocabulary + token] ?? -1;
    }
    return action;
  };
}

/** Ids that may be written in a grammar state. */
function legalIn({ next, vocabulary }: Grammar, state: number): readonly number[] {
  const row = Array.from(next.subarray(state * vocabulary, (state + 1) * vocabulary));
  return row.flatMap((to, id) => (to >= 0 ? [id] : []));
}

function total(parts: Readonly<Record<RewardPart, number>>): number {
  return Object.values(parts).reduce((sum, part) => sum + part, 0);
}
