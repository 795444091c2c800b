/** Milliseconds without a word from the worker, after which a person is offered to end it. */
const PATIENCE = 3000;

/** Notices when a worker that was asked something has not said anything for a while. */
export class Watch {
  readonly #tell: (overdue: boolean) => void;
  #open = 0; // commands that are not done
  #timer: ReturnType<typeof setTimeout> | null = null;
  #overdue = false;

  /** `tell` hears when an answer is overdue, and when it is no longer. */
  constructor(tell: (overdue: boolean) => void) {
    this.#tell = tell;
  }

  /** A command was sent that will be done. */
  asked(): void {
    this.#open++;
    if (this.#timer === null) this.#begin();
  }

  /** The worker said something; with `done`, that a command is done. */
  heard(done: boolean): void {
    if (done) this.#open = Math.max(0, this.#open - 1);
    this.#begin();
  }

  /** The worker is gone, and what it was asked with it. */
  ended(): void {
    this.#open = 0;
    this.#begin();
  }

  #begin(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = this.#open > 0 ? setTimeout(() => this.#say(true), PATIENCE) : null;
    this.#say(false);
  }

  #say(overdue: boolean): void {
    if (overdue === this.#overdue) return;
    this.#overdue = overdue;
    this.#tell(overdue);
  }
}
