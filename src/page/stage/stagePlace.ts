import type { StageState } from './stageStore.ts';

type StagePlace = Pick<StageState, 'task' | 'chosenUpdate'>;

const PLACE = /^([1-9]\d?)(?:\/(\d{1,6}))?$/;

/** `2/25`: task 2 and the agent after update 25. `2`: the newest agent. Empty: task 1 and the newest agent. */
export function stageSubpath({ task, chosenUpdate }: StagePlace): string {
  if (chosenUpdate !== null) return `${task + 1}/${chosenUpdate}`;
  return task === 0 ? '' : String(task + 1);
}

/** Reads the part of an address after the stage's name. A text that can't be read means task 1 and the newest agent. */
export function readStagePlace(subpath: string): StagePlace {
  const [, task = '1', update] = PLACE.exec(subpath) ?? [];
  return { task: Number(task) - 1, chosenUpdate: update === undefined ? null : Number(update) };
}
