import { create } from 'zustand';
import type { Play } from './play.ts';

/** State of the stage. */
export interface StageState {
  readonly task: number; // of those that the recording follows
  readonly at: number | null; // update whose agent plays at the right; null: the newest
  readonly step: number; // of the play
  readonly playing: boolean;
  readonly before: boolean; // on a phone, where one board has room: the agent before training
  readonly own: readonly Play[]; // of the task by the reader's run, by rising update
  readonly contest: boolean; // the reader plays against the agent
}

/** What the stage shows, beside the recording and the run. */
export const useStage = create<StageState>()(() => ({
  task: 0,
  at: null,
  step: 0,
  playing: false,
  before: false,
  own: [],
  contest: false,
}));

/** All steps of a play, however many. */
export const WHOLE = Infinity;

/** Another task from its beginning; its plays by the reader's own run are yet to come. */
export function toTask(task: number): void {
  useStage.setState({ task, step: 0, own: [] });
}

/** The agent of another update, its whole play at once. */
export function toUpdate(at: number | null): void {
  useStage.setState({ at, step: WHOLE, playing: false });
}

/** Plays once more from the beginning. */
export function replay(): void {
  useStage.setState({ step: 0, playing: true });
}
