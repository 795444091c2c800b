import type { RunEvent } from '../wire/events.ts';

type PhaseEvent = Extract<RunEvent, { type: 'phase' }>;

/** Ms before the first estimate of the time left. An earlier estimate would jump. */
const FIRST_ESTIMATE_MS = 2000;

/**
 * Reports the progress of a stage that takes minutes. It sends the stage's phase event again, with the parts done and
 * the time left. It learns the current stage from the events that pass through `withTimeLeft`.
 */
export class StageProgress {
  readonly #report: (event: PhaseEvent) => void;
  readonly #now: () => number;
  #phase: PhaseEvent | null = null;
  #firstDone = 0; // steps done when the stage was first seen
  #spentMs = 0; // ms spent in the stage since then, without the time between events
  #lastTime = 0;

  /** `now` is in ms and doesn't advance while the run is paused. */
  constructor(report: (event: PhaseEvent) => void, now: () => number) {
    this.#report = report;
    this.#now = now;
  }

  /** Takes note of a phase event. Returns the event, with the time left if it's a phase. */
  withTimeLeft<E extends { readonly type: string }>(event: E): E {
    if (event.type !== 'phase') return event;
    const phase = event as unknown as PhaseEvent;
    const now = this.#now();
    const isWarmStart = phase.phase === 'warm-start';
    const isNew = this.#phase?.phase !== phase.phase || phase.done < this.#phase.done;
    // the first step of a warm start takes much longer than the others, because everything is still to be set up
    if (isNew || (isWarmStart && this.#phase?.done === 0)) [this.#firstDone, this.#spentMs] = [phase.done, 0];
    // the steps of a warm start run by themselves; other stages wait until their next event is requested
    else if (isWarmStart) this.#spentMs += now - this.#lastTime;
    this.#lastTime = now;
    this.#phase = phase;
    return { ...event, ...this.#timeLeft(phase.done, phase.total) };
  }

  /**
   * Reports that `done` of `total` pieces are done. In a stage with several steps, these are pieces of the current
   * step, and the reported progress is rounded down to tenths of a step.
   */
  reportPart(done: number, total: number): void {
    const at = this.#phase;
    if (!at || total === 0) return;
    const now = this.#now();
    this.#spentMs += now - this.#lastTime;
    this.#lastTime = now;
    // a single optimizer step is reported by its layers, imitation by its steps
    if (at.total <= 1 && at.phase !== 'imitating') {
      // rollouts begin together and many end together, so the finished ones don't predict the time left
      this.#report({ ...at, done, total, ...(at.phase !== 'sampling' && this.#timeLeft(done, total)) });
      return;
    }
    const reached = Math.min(at.total, at.done + done / total);
    this.#report({ ...at, done: Math.floor(10 * reached) / 10, ...this.#timeLeft(reached, at.total) });
  }

  #timeLeft(done: number, total: number): { readonly secondsLeft?: number } {
    if (done <= this.#firstDone || this.#spentMs < FIRST_ESTIMATE_MS) return {};
    return { secondsLeft: Math.round((this.#spentMs * (total - done)) / (done - this.#firstDone) / 1000) };
  }
}
