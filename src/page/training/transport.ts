import type { Answer, Question } from '../../wire/questions.ts';
import type * as Engine from './engine.ts';
import { noteFailure } from '../browser/newVersion.ts';
import { setProblem, useLive } from '../view/liveStore.ts';

/** Starts or continues training. */
export const run = () => withEngine((engine) => engine.run());
/** Pauses training. The stage that the device is computing is finished first. */
export const pause = () => withEngine((engine) => engine.pause());
/** Trains one update, then pauses. */
export const step = () => withEngine((engine) => engine.step('update'));
/** Trains one optimizer step of an update, then pauses. */
export const stepOptimizer = () => withEngine((engine) => engine.step('optimizer-step'));
/** Starts a fresh run with the knobs that the page shows. */
export const start = (running: boolean) => withEngine((engine) => engine.start(running));
/** Goes back to update 0, paused. */
export const reset = () => withEngine((engine) => engine.reset());

/** Asks the run about a kept rollout; while a recording is in view, asks the recording first. */
export async function question(asked: Question): Promise<Answer> {
  if (useLive.getState().isExample) {
    const recorded = (await import('../view/player.ts')).askRecording(asked);
    if (recorded) return recorded;
  }
  return (await import('./engine.ts')).ask(asked);
}

/** Causes a failure, for `window.__playground.inject()`. */
export async function inject(fault: string, moment?: string): Promise<void> {
  (await import('./engine.ts')).inject(fault, moment);
}

/** Binds the engine to the page. */
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
