import { useEffect } from 'react';
import { showTask, useStage, ALL_STEPS } from './stageStore.ts';

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
