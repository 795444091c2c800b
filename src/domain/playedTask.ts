import type { RunConfig } from '../config/fields.ts';
import type { EnvView } from './envView.ts';
import type { RewardPart, StopReason } from './episode.ts';

/** A task with a person in the agent's place. It asks no run: there need be none, and the one that is there hears nothing of it. */
export interface PlayedTask {
  readonly config: RunConfig;
  readonly seed: number; // of the task
  readonly environmentSeed: number; // of the environment's dice
  readonly tokens: readonly number[]; // all that the person has written
  readonly typed?: string; // behind them a turn in text, where the environment speaks it
}

/** An episode as far as given tokens of an agent take it. Tokens, roles and turns: one entry a token, prompt included. */
export interface PlayedEpisode {
  readonly question: string;
  readonly names: ReadonlyMap<number, string>; // id → what that word stands for here
  readonly tokens: Int32Array;
  readonly roles: Uint8Array;
  readonly turns: Uint8Array; // from 1; 0 in the prompt
  readonly paid: readonly {
    readonly turn: number;
    readonly parts: Readonly<Record<RewardPart, number>>;
    readonly valid: boolean;
    readonly toolCall: boolean;
  }[]; // turns taken
  readonly reward: number; // so far
  readonly success: boolean;
  readonly stop: StopReason | null; // null: it goes on
  readonly draft: number; // tokens of the turn under way
  readonly budget: number; // that it may still have
  readonly legal: readonly number[]; // ids that may come next; none are listed where any may, as in text
  readonly view: EnvView;
}
