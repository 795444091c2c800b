import type { PlayedBatch, BatchView } from '../../domain/batch.ts';
import type { EpisodeView } from '../../domain/episode.ts';
import { counted } from '../words/numberText.ts';
import { readRollout, type Rollout } from '../rollout/readRollout.ts';
import type { Recording } from '../../runs/recording.ts';

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

/** The seeds of the tasks that a recording follows from before training to its end. Empty if no task shows a difference. */
export function followedSeeds({ plays }: Pick<Recording, 'plays'>): readonly number[] {
  const [first] = plays;
  return first?.update === 0 ? first.batch.episodes.map(({ seed }) => seed) : [];
}

/** The seeds of the other tasks that the trained agent played. */
export function otherSeeds(recording: Recording): readonly number[] {
  const followed = followedSeeds(recording);
  const last = recording.plays.at(-1)?.batch.episodes ?? [];
  return last.map(({ seed }) => seed).filter((seed) => !followed.includes(seed));
}

/** A person plays word by word here. Tasks in text are played in a separate dialog. */
export function canBeat({ plays, begun }: Recording): boolean {
  return plays.length > 0 && begun.language === 'words';
}

/** Plays by ascending update. If the recording follows no task: of each recorded batch the best rollout, whatever its task. */
export function playsOf(recording: Recording, task: number): readonly Play[] {
  const { plays, batches, vocabulary } = recording;
  const seed = followedSeeds(recording)[task];
  if (seed === undefined) return batches.flatMap(({ batch }) => bestPlay(batch, vocabulary) ?? []);
  return plays.flatMap(({ update, batch }) => playOf(batch, vocabulary, seed, update) ?? []);
}

function bestPlay(batch: BatchView, vocabulary: readonly string[]): Play | null {
  const [row] = batch.episodes.toSorted((a, b) => b.reward - a.reward);
  return row ? playOf({ ...batch, episodes: [row] }, vocabulary, row.seed, batch.update) : null;
}

/** The plays of the two agents that the start screen shows side by side. */
interface Sides {
  readonly before: Play | null; // null: the recording has no task from before training
  readonly after: Play | null; // null: the reader's own run hasn't played yet
  readonly plays: readonly Play[]; // the plays that `after` was chosen from, by ascending update
}

/** The untrained agent's play, and that of the agent after the chosen update, recorded or from the reader's own run. */
export function sidesOf(
  recorded: readonly Play[],
  recording: Pick<Recording, 'plays'>,
  isOwn: boolean,
  { chosenUpdate, ownPlays }: { readonly chosenUpdate: number | null; readonly ownPlays: readonly Play[] },
): Sides {
  const before = followedSeeds(recording).length > 0 ? (recorded[0] ?? null) : null;
  const seed = recorded.at(-1)?.episode.seed;
  const plays = isOwn ? ownPlays.filter(({ episode }) => episode.seed === seed) : recorded;
  return { before, after: plays.find(({ update }) => update === chosenUpdate) ?? plays.at(-1) ?? null, plays };
}
