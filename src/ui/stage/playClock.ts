import { useEffect } from 'react';
import { toTask, useStage, WHOLE } from './stageStore.ts';

/** How long a token of a play stands: the first play is to be followed, those after it are known. */
export const STEP_MS = { first: 400, later: 300 } as const;
const REST_MS = 4500; // the end of a play stands still this long

/** Takes the play a step further in its time; after it the next task, once through all of them. Still while nothing plays. */
export function usePlayClock(steps: number, tasks: number, off: boolean): void {
  const { playing, step, task } = useStage();
  useEffect(() => {
    if (!playing || off || steps === 0) return;
    const over = step >= steps;
    const wait = over ? REST_MS : task === 0 ? STEP_MS.first : STEP_MS.later;
    const timer = setTimeout(() => {
      if (!over) useStage.setState({ step: step + 1 });
      else if (task + 1 < tasks) toTask(task + 1);
      else useStage.setState({ playing: false, step: WHOLE });
    }, wait);
    return () => clearTimeout(timer);
  }, [playing, step, steps, task, tasks, off]);
}
