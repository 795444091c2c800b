/** An arm is one run, with one seed, of a comparison, experiment, exercise or sweep; its trainer a worker, the lab or a process. */
export interface Trainer<Arm, News, Result> {
  /** Trains an arm to its end, and reports its progress with `reportProgress`. Rejects with the reason if it fails. */
  readonly train: (arm: Arm, reportProgress: (news: News) => void) => Promise<Result>;
  /** Pauses the current arm, or resumes it. Without it, a trainer finishes its arm even while the queue is paused. */
  readonly setPaused?: (paused: boolean) => void;
  /** Ends the trainer and its current arm. The arm's promise is ignored from then on. */
  readonly end: (reason: string) => void;
}

export interface QueueListener<Arm, News, Result> {
  readonly onBegin?: (arm: Arm) => void;
  readonly onProgress?: (arm: Arm, news: News) => void;
  readonly onDone: (arm: Arm, result: Result, seconds: number) => void; // seconds: training time without pauses
  readonly onFailure: (arm: Arm, reason: unknown) => void; // the next arm gets a fresh trainer
  readonly onEnd: () => void; // no arm is left: all are done, or the rest was cancelled
}

interface QueueOptions {
  readonly maxActive?: number; // arms that train at the same time; 1 by default
  readonly now?: () => number; // ms
}

interface ActiveArm<Arm, News, Result> {
  readonly arm: Arm;
  readonly trainer: Trainer<Arm, News, Result>;
  resumedAt: number; // when it began or last resumed, ms
  trainedMs: number; // time trained before the last pause, ms
}

/**
 * The queue for everything that trains several runs: comparisons, experiments, exercises, and the command line's
 * experiments and sweeps. An arm is a run to train: its configuration, seed and start. The queue begins arms in order,
 * and can be paused, resumed and cancelled. After a failure the next arm gets a fresh trainer. The queue stores
 * nothing. To continue after a reload, store `unfinishedArms` and add it to a new queue.
 */
export class ArmQueue<Arm, News, Result> {
  readonly #makeTrainer: () => Trainer<Arm, News, Result>;
  readonly #listener: QueueListener<Arm, News, Result>;
  readonly #maxActive: number;
  readonly #now: () => number;
  readonly #waitingArms: Arm[] = [];
  readonly #idleTrainers: Trainer<Arm, News, Result>[] = []; // trainers that wait for the next arm
  readonly #activeArms = new Set<ActiveArm<Arm, News, Result>>();
  #paused = false;
  #ended = true; // true from the call of `onEnd` until an arm is added

  /** `makeTrainer` is called once for each arm that trains at the same time, and once after each failure. */
  constructor(
    makeTrainer: () => Trainer<Arm, News, Result>,
    listener: QueueListener<Arm, News, Result>,
    { maxActive = 1, now = () => performance.now() }: QueueOptions = {},
  ) {
    [this.#makeTrainer, this.#listener, this.#maxActive, this.#now] = [makeTrainer, listener, maxActive, now];
  }

  /** The arms that are not done, in order. The ones in training come first. */
  get unfinishedArms(): readonly Arm[] {
    return [...Array.from(this.#activeArms, ({ arm }) => arm), ...this.#waitingArms];
  }

  get paused(): boolean {
    return this.#paused;
  }

  /** Adds arms at the end. Training begins at once unless the queue is paused. */
  add(arms: readonly Arm[]): void {
    this.#waitingArms.push(...arms);
    this.#ended = false;
    this.#beginArms();
  }

  /** Pauses: no arm begins, and current arms pause if their trainers can. */
  pause(): void {
    if (this.#paused) return;
    this.#paused = true;
    for (const active of this.#activeArms) {
      active.trainedMs += this.#now() - active.resumedAt;
      active.trainer.setPaused?.(true);
    }
  }

  resume(): void {
    if (!this.#paused) return;
    this.#paused = false;
    for (const active of this.#activeArms) {
      active.resumedAt = this.#now();
      active.trainer.setPaused?.(false);
    }
    this.#beginArms();
  }

  /** Ends the current arms and drops the waiting ones. The only callback after that is `onEnd`. */
  cancel(reason: string): void {
    const active = [...this.#activeArms];
    this.#activeArms.clear();
    this.#waitingArms.length = 0;
    this.#paused = false;
    for (const { trainer } of active) trainer.end(reason);
    this.#end(reason);
  }

  #beginArms(): void {
    while (!this.#paused && this.#activeArms.size < this.#maxActive && this.#waitingArms.length > 0) {
      const arm = this.#waitingArms.shift() as Arm;
      void this.#train({
        arm,
        trainer: this.#idleTrainers.pop() ?? this.#makeTrainer(),
        resumedAt: this.#now(),
        trainedMs: 0,
      });
    }
    if (this.unfinishedArms.length === 0) this.#end('No arm is left to train.');
  }

  async #train(active: ActiveArm<Arm, News, Result>): Promise<void> {
    const { arm, trainer } = active;
    this.#activeArms.add(active);
    this.#listener.onBegin?.(arm);
    const reportProgress = (news: News) => {
      if (this.#activeArms.has(active)) this.#listener.onProgress?.(arm, news);
    };
    const outcome = await trainer.train(arm, reportProgress).then(
      (result) => ({ result }),
      (reason: unknown) => ({ reason }),
    );
    if (!this.#activeArms.delete(active)) return; // cancelled
    const seconds = (active.trainedMs + (this.#paused ? 0 : this.#now() - active.resumedAt)) / 1000;
    if ('result' in outcome) {
      this.#idleTrainers.push(trainer);
      this.#listener.onDone(arm, outcome.result, seconds);
    } else {
      trainer.end(outcome.reason instanceof Error ? outcome.reason.message : String(outcome.reason));
      this.#listener.onFailure(arm, outcome.reason);
    }
    this.#beginArms();
  }

  #end(reason: string): void {
    if (this.#ended) return;
    [this.#ended, this.#paused] = [true, false];
    for (const trainer of this.#idleTrainers.splice(0)) trainer.end(reason);
    this.#listener.onEnd();
  }
}
