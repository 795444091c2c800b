import type { Answer, Question } from '../../wire/questions.ts';
import type * as Engine from './engine.ts';
import { noteFailure } from '../browser/newVersion.ts';
import { setProblem, useLive } from '../view/liveStore.ts';
import type { Run } from '../../runs/run.ts';
import { newestBatch } from '../view/batches.ts';
import { latestCheckpoint } from '../runs/saving.ts';

export const run = () => withEngine((engine) => engine.run());
export const pause = () => withEngine((engine) => engine.pause());
export const step = () => withEngine((engine) => engine.step('update'));
export const stepOptimizer = () => withEngine((engine) => engine.step('optimizer-step'));
export const start = (running: boolean) => withEngine((engine) => engine.start(running));
export const reset = () => withEngine((engine) => engine.reset());

/** Asks the run about a kept rollout; while a recording is in view, asks the recording first. */
export async function question(asked: Question): Promise<Answer> {
  if (useLive.getState().isExample) {
    const recorded = (await import('../view/player.ts')).askRecording(asked);
    if (recorded) return recorded;
  }
  return (await import('./engine.ts')).ask(asked);
}

export async function inject(fault: string, moment?: string): Promise<void> {
  (await import('./engine.ts')).inject(fault, moment);
}

export const openEngine = () => withEngine((engine) => engine.bindEngine());

/** Calls `command` with the engine. The engine loads after the first paint; earlier commands wait for it, in order. */
function withEngine(command: (engine: typeof Engine) => void): void {
  import('./engine.ts').then(command, (error: unknown) => {
    void noteFailure(error);
    setProblem({
      message: 'A part of the page could not be loaded: the engine.',
      hint: 'Check the connection and reload the page.',
      fatal: true,
      fields: [],
    });
  });
}

const WAIT_MS = 20_000; // a paused run sends its state when the update under way is done
const POLL_MS = 50;

/** Resolves with the run and its newest batch. Null if it has no finished update, fails, or doesn't send its state in time. */
export async function pausedRun(): Promise<Run | null> {
  const { running: wasRunning, session: before, update: done } = useLive.getState();
  if (wasRunning) pause();
  if (before !== 'ready' || done === 0) return null;
  const began = performance.now();
  return new Promise((resolve) => {
    const check = () => {
      const latest = latestCheckpoint();
      const batch = newestBatch();
      const { running, update, session } = useLive.getState();
      if (!running && latest?.update === update) resolve({ ...latest, batches: batch ? [batch] : [] });
      else if (session !== 'ready' || performance.now() - began > WAIT_MS) resolve(null);
      else setTimeout(check, POLL_MS);
    };
    check();
  });
}
