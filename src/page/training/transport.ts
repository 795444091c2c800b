import type { Answer, Question } from '../../wire/questions.ts';
import type * as Engine from './engine.ts';
import { noteFailure } from '../browser/newVersion.ts';
import { setProblem, useLive } from '../view/liveStore.ts';

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
