import { type FieldName, parseConfig, type RunConfig } from '../../src/config/config.ts';
import type { EnvSettings, Episode, Reset, ToolEnv, TurnResult } from '../../src/envs/env.ts';
import { createEnv, envSettings } from '../../src/envs/index.ts';
import { PRESETS } from '../../src/config/presets.ts';
import { REWARD_PARTS } from '../../src/domain/episode.ts';
import { factsFor } from './factFiles.ts';

/** An environment as its preset has it, with every reward part on and nothing left to chance but what `knobs` say. */
export interface Subject {
  readonly config: RunConfig;
  readonly env: ToolEnv;
  readonly settings: EnvSettings;
}

export function subject(name: RunConfig['env'], knobs: Readonly<Partial<Record<FieldName, unknown>>> = {}): Subject {
  const preset = Object.entries(PRESETS).find(([key]) => key === name)?.[1].set;
  const paid = { processReward: 0.5, turnCost: 0, invalidPenalty: 0.1, outcomeReward: 1 };
  const config = parseConfig({ ...preset, env: name, ...paid, ...knobs });
  return { config, env: createEnv(config, factsFor(name)), settings: envSettings(config) };
}

export interface Played {
  readonly episode: Episode;
  readonly actions: readonly (readonly number[])[];
  readonly turns: readonly TurnResult[];
  readonly success: boolean;
  readonly total: number;
}

/** Plays an episode to its end. */
export function play(episode: Episode, settings: EnvSettings, choose: (turn: number) => readonly number[]): Played {
  const actions: (readonly number[])[] = [];
  const turns: TurnResult[] = [];
  for (let over = false; !over;) {
    const action = choose(turns.length);
    const result = episode.step(action, settings);
    actions.push(action);
    turns.push(result);
    over = result.stop !== null;
  }
  return {
    episode,
    actions,
    turns,
    success: turns.at(-1)?.success ?? false,
    total: turns.reduce((sum, { parts }) => sum + REWARD_PARTS.reduce((s, part) => s + parts[part], 0), 0),
  };
}

/** The expert's episode. */
export function expertPlay({ env, settings }: Subject, seed: number, begin: Reset = env.reset): Played {
  const episode = begin(seed, settings);
  return play(episode, settings, () => episode.expert());
}

/** Two words for where `to` lies from `from` on a square board: rows, then columns. */
export function seenFrom(from: number, to: number, size: number): readonly string[] {
  const down = Math.floor(to / size) - Math.floor(from / size);
  const right = (to % size) - (from % size);
  const rows = down === 0 ? 'same-row' : `${Math.abs(down)}-${down < 0 ? 'up' : 'down'}`;
  return [rows, right === 0 ? 'same-column' : `${Math.abs(right)}-${right < 0 ? 'left' : 'right'}`];
}
