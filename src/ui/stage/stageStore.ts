import { create } from 'zustand';
import type { Play } from './play.ts';

/** The state of the stage. */
export interface StageState {
  readonly task: number; // index of the task among those that the recording follows
  readonly at: number | null; // the update whose agent plays on the right; null: the newest
  readonly step: number; // number of steps of the play that are shown
  readonly playing: boolean;
  readonly before: boolean; // on a phone, which shows only one board: true for the agent before training
  readonly own: readonly Play[]; // plays by the reader's own run; those of one task are in the order of their updates
  readonly contest: boolean; // whether the reader plays against the agent
}

/** The state of the start screen, apart from the recording and the run. */
export const useStage = create<StageState>()(() => ({
  task: 0,
  at: null,
  step: 0,
  playing: false,
  before: false,
  own: [],
  contest: false,
}));

/** A number of steps that shows the whole play. */
export const WHOLE = Infinity;

/** Shows another task from its beginning. */
export function toTask(task: number): void {
  useStage.setState({ task, step: 0 });
}

/** Shows the whole play of another update's agent at once. */
export function toUpdate(at: number | null): void {
  useStage.setState({ at, step: WHOLE, playing: false });
}

/** Plays once more from the beginning. */
export function replay(): void {
  useStage.setState({ step: 0, playing: true });
}
