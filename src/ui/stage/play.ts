import type { PlayedBatch } from '../../domain/batch.ts';
import type { EpisodeView } from '../../domain/episode.ts';
import { readRollout, type Rollout } from '../rollout/readRollout.ts';

/** How one side fared at a task. */
export interface SideResult {
  readonly success: boolean;
  readonly turns: number;
}

/** A task as an agent played it. */
export interface Play {
  readonly update: number; // of the agent; 0: before training
  readonly rollout: Rollout;
  readonly episode: EpisodeView;
  readonly ends: readonly number[]; // tokens that stand there after each step: what the agent wrote, or what came back
}

/** Reads the play of a task out of a batch; null where the batch does not hold it. */
export function playOf(batch: PlayedBatch, vocabulary: readonly string[], seed: number, update: number): Play | null {
  const episode = batch.episodes.find((each) => each.seed === seed);
  if (!episode) return null;
  const rollout = readRollout(batch, vocabulary, episode.row);
  const spans = rollout.turns.filter(({ turn }) => turn > 0).flatMap((turn) => turn.spans);
  return { update, rollout, episode, ends: spans.map(({ tokens }) => (tokens.at(-1) ?? 0) + 1) };
}

/** Whether all of a play is shown after so many steps. */
export function isOver(play: Play, step: number): boolean {
  return step >= play.ends.length;
}

/** The turn that a play is in after so many steps; 0 before the first. */
export function turnAt({ rollout, ends }: Play, step: number): number {
  const shown = ends[Math.min(step, ends.length) - 1] ?? 0;
  const turns = rollout.turns.filter(({ spans }) => (spans[0]?.tokens[0] ?? 0) < shown);
  return turns.at(-1)?.turn ?? 0;
}
