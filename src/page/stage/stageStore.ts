import { create } from 'zustand';
import type { Play } from './play.ts';
import { useEffect } from 'react';

/** The state of the stage, which is the start screen (its code calls it stage; so does its address). */
export interface StageState {
  readonly task: number; // index of the task among those that the recording follows
  readonly chosenUpdate: number | null; // the update whose agent plays on the right; null: the newest
  readonly step: number; // number of steps of the play that are shown
  readonly playing: boolean;
  readonly ownPlays: readonly Play[]; // by the reader's own run; the plays of a task are in the order of their updates
  readonly inContest: boolean; // whether the reader plays against the agent
}

export const useStage = create<StageState>()(() => ({
  task: 0,
  chosenUpdate: null,
  step: 0,
  playing: false,
  ownPlays: [],
  inContest: false,
}));

/** A number of steps that shows the whole play. */
export const ALL_STEPS = Infinity;

export function showTask(task: number): void {
  useStage.setState({ task, step: 0 });
}

/** Shows the whole play of another update's agent at once. */
export function showUpdate(update: number | null): void {
  useStage.setState({ chosenUpdate: update, step: ALL_STEPS, playing: false });
}

export function replay(): void {
  useStage.setState({ step: 0, playing: true });
}

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

/** Time for each step of a play. The first task is slower, because the visitor doesn't know the play yet. */
export const STEP_MS = { first: 400, later: 300 } as const;
const PAUSE_MS = 4500; // pause after the end of a play

/** Shows one more step at a time while the stage plays, and then the next task. Stops after the last task. */
export function usePlayClock(steps: number, tasks: number, disabled: boolean): void {
  const { playing, step, task } = useStage();
  useEffect(() => {
    if (!playing || disabled || steps === 0) return;
    const over = step >= steps;
    const wait = over ? PAUSE_MS : task === 0 ? STEP_MS.first : STEP_MS.later;
    const timer = setTimeout(() => {
      if (!over) useStage.setState({ step: step + 1 });
      else if (task + 1 < tasks) showTask(task + 1);
      else useStage.setState({ playing: false, step: ALL_STEPS });
    }, wait);
    return () => clearTimeout(timer);
  }, [playing, step, steps, task, tasks, disabled]);
}
