import type { PlayedBatch } from '../../domain/batch.ts';
import type { EpisodeView } from '../../domain/episode.ts';
import { counted } from '../words/numberText.ts';
import { readRollout, type Rollout } from '../rollout/readRollout.ts';

export interface SideResult {
  readonly success: boolean;
  readonly turns: number;
}

export interface Play {
  readonly update: number; // the agent has trained for this many updates; 0: before training
  readonly rollout: Rollout;
  readonly episode: EpisodeView;
  /**
   * For each step of the play, the number of the rollout's tokens up to the end of the step. A step is a span of one
   * kind: the agent's words or the tool's.
   */
  readonly stepEnds: readonly number[];
}

/** The play of a task in a batch; null if the batch doesn't contain the task. */
export function playOf(batch: PlayedBatch, vocabulary: readonly string[], seed: number, update: number): Play | null {
  const episode = batch.episodes.find((each) => each.seed === seed);
  if (!episode) return null;
  const rollout = readRollout(batch, vocabulary, episode.row);
  const spans = rollout.turns.filter(({ turn }) => turn > 0).flatMap((turn) => turn.spans);
  return { update, rollout, episode, stepEnds: spans.map(({ tokens }) => (tokens.at(-1) ?? 0) + 1) };
}

/** Whether the whole play is shown after `step` steps. */
export function isOver(play: Play, step: number): boolean {
  return step >= play.stepEnds.length;
}

/** The turn of a play after `step` steps; 0 before the first. */
export function turnAt({ rollout, stepEnds }: Play, step: number): number {
  const shownTokens = stepEnds[Math.min(step, stepEnds.length) - 1] ?? 0;
  const turns = rollout.turns.filter(({ spans }) => (spans[0]?.tokens[0] ?? 0) < shownTokens);
  return turns.at(-1)?.turn ?? 0;
}

export function outcome({ success, turns }: SideResult): string {
  return success ? `solved in ${counted(turns, 'turn')}` : 'not solved';
}
