import type { StageState } from './stageStore.ts';

/** The task and the agent that the stage shows. */
type StagePlace = Pick<StageState, 'task' | 'at'>;

const PLACE = /^([1-9]\d?)(?:\/(\d{1,6}))?$/;

/**
 * The part of an address after the stage's name: `2/25` for task 2 and the agent after update 25, `2` for the newest
 * agent. Empty for task 1 and the newest agent.
 */
export function stageSubpath({ task, at }: StagePlace): string {
  if (at !== null) return `${task + 1}/${at}`;
  return task === 0 ? '' : String(task + 1);
}

/** Reads this part of an address. A text that can't be read means task 1 and the newest agent. */
export function readStagePlace(subpath: string): StagePlace {
  const [, task = '1', at] = PLACE.exec(subpath) ?? [];
  return { task: Number(task) - 1, at: at === undefined ? null : Number(at) };
}
