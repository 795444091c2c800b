import type { Answer, Question } from '../../wire/questions.ts';
import type * as Engine from './engine.ts';
import { noteFailure } from '../shell/newVersion.ts';
import { live, setProblem } from './liveStore.ts';

/** Starts training, or goes on with it. */
export const run = () => ask((engine) => engine.run());
/** Stops pulling; what runs on the device finishes its stage. */
export const pause = () => ask((engine) => engine.pause());
/** One update, then still. */
export const step = () => ask((engine) => engine.step('update'));
/** One optimizer step of an update, then still. */
export const stepOptimizer = () => ask((engine) => engine.step('optimizer-step'));
/** A fresh run with the knobs as the page shows them. */
export const start = (running: boolean) => ask((engine) => engine.start(running));
/** Back to update 0, not running. */
export const reset = () => ask((engine) => engine.reset());

/** Asks the run about a kept rollout; before there is one, the recording in view. */
export async function question(asked: Question): Promise<Answer> {
  if (live.isExample) {
    const recorded = (await import('../replay/player.ts')).askRecording(asked);
    if (recorded) return recorded;
  }
  return (await import('./engine.ts')).ask(asked);
}

/** Brings a failure about: `window.__playground.inject()`. */
export async function inject(fault: string, moment?: string): Promise<void> {
  (await import('./engine.ts')).inject(fault, moment);
}

/** Binds the engine to the page. */
export const openEngine = () => ask((engine) => engine.bindEngine());

/** The engine comes after the first paint: what is asked of it before waits, in order. */
function ask(command: (engine: typeof Engine) => void): void {
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
