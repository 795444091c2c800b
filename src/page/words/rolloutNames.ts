import type { BatchView } from '../../domain/batch.ts';

export function rolloutsText({ episodes }: Pick<BatchView, 'episodes'>): string {
  const tasks = new Set(episodes.map(({ group }) => group)).size;
  const each = episodes.length === 1 ? '1 rollout' : `All ${episodes.length} rollouts`;
  return `${each} of ${tasks === 1 ? 'one task' : `${tasks} tasks`}`;
}

/** The name of a rollout for people: the number of its task and its number within the task, both from 1. */
export function rolloutName({ episodes }: Pick<BatchView, 'episodes'>, row: number): string {
  const rollout = episodes.find((episode) => episode.row === row);
  if (!rollout) return `row ${row}`;
  const groupEpisodes = episodes.filter(({ group }) => group === rollout.group);
  return `task ${rollout.group + 1}, rollout ${groupEpisodes.indexOf(rollout) + 1}`;
}
