import type { RunEvent } from '../wire/events.ts';

type PhaseEvent = Extract<RunEvent, { type: 'phase' }>;

/** How far a stage has come that takes minutes, told as the same phase with more done: which stage that is it learns from the events that pass. */
export class LongStage {
  readonly #tell: (event: PhaseEvent) => void;
  #at: PhaseEvent | null = null;

  constructor(tell: (event: PhaseEvent) => void) {
    this.#tell = tell;
  }

  /** Notes a phase; the event itself. */
  noted<E extends { readonly type: string }>(event: E): E {
    if (event.type === 'phase') this.#at = event as unknown as PhaseEvent;
    return event;
  }

  /** Tells that `done` of `total` pieces are over: of a stage of several steps, as tenths of the step under way. */
  reached(done: number, total: number): void {
    const at = this.#at;
    if (!at || total === 0) return;
    if (at.total <= 1) this.#tell({ ...at, done, total });
    else this.#tell({ ...at, done: Math.min(at.total, at.done + Math.floor((10 * done) / total) / 10) });
  }
}
