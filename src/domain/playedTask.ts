import type { RunConfig } from '../config/fields.ts';
import type { EnvView } from './envView.ts';
import type { RewardPart, StopReason } from './episode.ts';

/** A task that a person plays in the agent's place. It needs no run, and does not affect one. */
export interface PlayedTask {
  readonly config: RunConfig;
  readonly seed: number; // seed of the task
  readonly environmentSeed: number; // seed of the environment's random events
  readonly tokens: readonly number[]; // everything that the person has written so far
  readonly typed?: string; // a new turn as text, appended to `tokens`; only if the environment uses text
}

/** After the agent's tokens so far. Tokens, roles and turns have one entry for each token, prompt included. */
export interface PlayedEpisode {
  readonly question: string;
  readonly names: ReadonlyMap<number, string>; // token id → what the word stands for in this task
  readonly tokens: Int32Array;
  readonly roles: Uint8Array;
  readonly turns: Uint8Array; // from 1; 0 in the prompt
  readonly bodies: Uint8Array; // 1 at words of observations, without tags and chat markup
  readonly finishedTurns: readonly {
    readonly turn: number;
    readonly parts: Readonly<Record<RewardPart, number>>;
    readonly valid: boolean;
    readonly toolCall: boolean;
  }[]; // with the rewards of each
  readonly reward: number; // so far
  readonly success: boolean;
  readonly stop: StopReason | null; // null: the episode goes on
  readonly turnLength: number; // number of tokens in the current turn
  readonly budget: number; // number of tokens that the current turn may still get
  readonly legal: readonly number[]; // ids that may come next; empty for text, where every token may
  readonly view: EnvView;
}
