import type { RunEvent } from '../wire/commands.ts';

type PhaseEvent = Extract<RunEvent, { type: 'phase' }>;

/** Ms before the first estimate of the time left. An earlier estimate would jump. */
const FIRST_ESTIMATE_MS = 2000;

/** Sends the stage's phase event again, with parts done and time left. It learns the stage from events through `withTimeLeft`. */
export class StageProgress {
  readonly #report: (event: PhaseEvent) => void;
  readonly #now: () => number;
  #phase: PhaseEvent | null = null;
  #firstDone = 0; // steps done when the stage was first seen
  // no step or part of the stage is done yet; an imitation step without parts isn't counted then, because the first one
  // takes much longer: everything is still to be set up
  #isFirstStep = false;
  #spentMs = 0; // ms spent in the stage since then, without the time between events
  #lastTime = 0;

  /** `now` is in ms and doesn't advance while the run is paused. */
  constructor(report: (event: PhaseEvent) => void, now: () => number) {
    this.#report = report;
    this.#now = now;
  }

  /** Call it when the next event is requested: the time since the last one was a pause. */
  resume(): void {
    this.#lastTime = this.#now();
  }

  /** Takes note of a phase event and of a finished imitation step. Returns the event, with the time left if it's a phase. */
  withTimeLeft<E extends { readonly type: string }>(event: E): E {
    if (event.type === 'imitated') this.#imitated();
    if (event.type !== 'phase') return event;
    const phase = event as unknown as PhaseEvent;
    const isNew = this.#phase?.phase !== phase.phase || phase.done < this.#phase.done;
    if (isNew) [this.#firstDone, this.#spentMs, this.#isFirstStep] = [phase.done, 0, true];
    this.#lastTime = this.#now();
    this.#phase = phase;
    return { ...event, ...this.#timeLeft(phase.done, phase.total) };
  }

  /** In a stage with several steps, pieces are of the current step, and the progress is rounded down to tenths of a step. */
  reportPart(done: number, total: number): void {
    const at = this.#phase;
    if (!at || total === 0) return;
    const now = this.#now();
    this.#spentMs += now - this.#lastTime;
    this.#lastTime = now;
    this.#isFirstStep = false;
    // a single optimizer step is reported by its layers, imitation by its steps
    if (at.total <= 1 && at.phase !== 'imitating') {
      // rollouts begin together and many end together, so the finished ones don't predict the time left
      this.#report({ ...at, done, total, ...(at.phase !== 'sampling' && this.#timeLeft(done, total)) });
      return;
    }
    const reached = Math.min(at.total, at.done + done / total);
    this.#report({ ...at, done: Math.floor(10 * reached) / 10, ...this.#timeLeft(reached, at.total) });
  }

  #imitated(): void {
    const now = this.#now();
    if (this.#isFirstStep) this.#firstDone++;
    else this.#spentMs += now - this.#lastTime;
    this.#isFirstStep = false;
    this.#lastTime = now;
  }

  #timeLeft(done: number, total: number): { readonly secondsLeft?: number } {
    if (done <= this.#firstDone || this.#spentMs < FIRST_ESTIMATE_MS) return {};
    return { secondsLeft: Math.round((this.#spentMs * (total - done)) / (done - this.#firstDone) / 1000) };
  }
}
