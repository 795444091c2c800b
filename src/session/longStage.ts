import type { RunEvent } from '../wire/events.ts';

type PhaseEvent = Extract<RunEvent, { type: 'phase' }>;

/** Ms after which what is left of a stage is told: before, it would jump about. */
const TOLD_MS = 2000;

/**
 * How far a stage has come that takes minutes, told as the same phase with more done and the time that is left: which stage that is it learns
 * from the events that pass.
 */
export class LongStage {
  readonly #tell: (event: PhaseEvent) => void;
  readonly #now: () => number;
  #at: PhaseEvent | null = null;
  #from = 0; // steps that were done when it was met
  #spent = 0; // ms since, without what lies between its events
  #seen = 0;

  /** `now` is in ms and stands still while the run does. */
  constructor(tell: (event: PhaseEvent) => void, now: () => number) {
    this.#tell = tell;
    this.#now = now;
  }

  /** Notes a phase; the event itself, a phase with the time that is left. */
  noted<E extends { readonly type: string }>(event: E): E {
    if (event.type !== 'phase') return event;
    const phase = event as unknown as PhaseEvent;
    const now = this.#now();
    const isWarmStart = phase.phase === 'warm-start';
    const isNew = this.#at?.phase !== phase.phase || phase.done < this.#at.done;
    // the first step of a warm start takes much longer than the others, because everything is still to be set up
    if (isNew || (isWarmStart && this.#at?.done === 0)) [this.#from, this.#spent] = [phase.done, 0];
    // a warm start runs from step to step by itself; the other stages wait until their next event is asked for
    else if (isWarmStart) this.#spent += now - this.#seen;
    this.#seen = now;
    this.#at = phase;
    return { ...event, ...this.#left(phase.done, phase.total) };
  }

  /** Tells that `done` of `total` pieces are over: of a stage of several steps, as tenths of the step under way. */
  reached(done: number, total: number): void {
    const at = this.#at;
    if (!at || total === 0) return;
    const now = this.#now();
    this.#spent += now - this.#seen;
    this.#seen = now;
    // one optimizer step is told by its layers, one step of imitation is a step
    if (at.total <= 1 && at.phase !== 'imitating') {
      // of rollouts that begin together many end together: what is left cannot be told from those that are over
      this.#tell({ ...at, done, total, ...(at.phase !== 'sampling' && this.#left(done, total)) });
      return;
    }
    const reached = Math.min(at.total, at.done + done / total);
    this.#tell({ ...at, done: Math.floor(10 * reached) / 10, ...this.#left(reached, at.total) });
  }

  #left(done: number, total: number): { readonly left?: number } {
    if (done <= this.#from || this.#spent < TOLD_MS) return {};
    return { left: Math.round((this.#spent * (total - done)) / (done - this.#from) / 1000) };
  }
}
