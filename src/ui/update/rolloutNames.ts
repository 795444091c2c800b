import type { BatchView } from '../../domain/batch.ts';

/** How many rollouts a batch has, and of how many tasks, in words. */
export function rolloutsText({ episodes }: Pick<BatchView, 'episodes'>): string {
  const tasks = new Set(episodes.map(({ group }) => group)).size;
  const each = episodes.length === 1 ? '1 rollout' : `All ${episodes.length} rollouts`;
  return `${each} of ${tasks === 1 ? 'one task' : `${tasks} tasks`}`;
}

/** A rollout of a batch as people count them: the task it belongs to and which of its rollouts it is. */
export function rolloutName({ episodes }: Pick<BatchView, 'episodes'>, row: number): string {
  const own = episodes.find((episode) => episode.row === row);
  if (!own) return `row ${row}`;
  const siblings = episodes.filter(({ group }) => group === own.group);
  return `task ${own.group + 1}, rollout ${siblings.indexOf(own) + 1}`;
}
