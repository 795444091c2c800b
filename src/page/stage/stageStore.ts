import { create } from 'zustand';
import type { Play } from './play.ts';

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
