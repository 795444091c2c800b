import type { BatchView } from '../../domain/batch.ts';

/** The numbers of rollouts and of tasks in a batch, in words. */
export function rolloutsText({ episodes }: Pick<BatchView, 'episodes'>): string {
  const tasks = new Set(episodes.map(({ group }) => group)).size;
  const each = episodes.length === 1 ? '1 rollout' : `All ${episodes.length} rollouts`;
  return `${each} of ${tasks === 1 ? 'one task' : `${tasks} tasks`}`;
}

/** The name of a rollout for people: the number of its task and its number within the task, both from 1. */
export function rolloutName({ episodes }: Pick<BatchView, 'episodes'>, row: number): string {
  const own = episodes.find((episode) => episode.row === row);
  if (!own) return `row ${row}`;
  const siblings = episodes.filter(({ group }) => group === own.group);
  return `task ${own.group + 1}, rollout ${siblings.indexOf(own) + 1}`;
}
