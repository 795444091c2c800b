/** Trains one arm after the other: a worker beside the lab, the lab itself, or a process of the command line. */
export interface Trainer<Arm, News, Result> {
  /** Trains an arm to its end, and reports its progress with `tell`. Rejects with the reason if it fails. */
  readonly train: (arm: Arm, tell: (news: News) => void) => Promise<Result>;
  /**
   * Pauses the current arm, or resumes it. A trainer without this method finishes its arm even while the queue is
   * paused.
   */
  readonly hold?: (paused: boolean) => void;
  /** Ends the trainer and its current arm. The arm's promise is ignored from then on. */
  readonly end: (reason: string) => void;
}

/** Callbacks of a queue. */
export interface QueueListener<Arm, News, Result> {
  readonly onBegin?: (arm: Arm) => void;
  readonly onNews?: (arm: Arm, news: News) => void;
  readonly onDone: (arm: Arm, result: Result, seconds: number) => void; // seconds: training time without pauses
  readonly onFailure: (arm: Arm, reason: unknown) => void; // the next arm gets a fresh trainer
  readonly onEnd: () => void; // no arm is left: all are done, or the rest was cancelled
}

interface QueueOptions {
  readonly atOnce?: number; // arms that train at the same time; 1 by default
  readonly now?: () => number; // ms
}

/** An arm in training and its trainer. */
interface ActiveArm<Arm, News, Result> {
  readonly arm: Arm;
  readonly trainer: Trainer<Arm, News, Result>;
  began: number; // when it began or last resumed, ms
  spent: number; // time trained before the last pause, ms
}

/**
 * The queue for everything that trains several runs: comparisons, experiments, exercises, and the command line's
 * experiments and sweeps. An arm is a run to train: its configuration, seed and start. The queue begins arms in order,
 * and can be paused, resumed and cancelled. After a failure the next arm gets a fresh trainer. The queue stores
 * nothing. To continue after a reload, store `left` and add it to a new queue.
 */
export class ArmQueue<Arm, News, Result> {
  readonly #make: () => Trainer<Arm, News, Result>;
  readonly #listener: QueueListener<Arm, News, Result>;
  readonly #atOnce: number;
  readonly #now: () => number;
  readonly #waiting: Arm[] = [];
  readonly #idle: Trainer<Arm, News, Result>[] = []; // trainers that wait for the next arm
  readonly #active = new Set<ActiveArm<Arm, News, Result>>();
  #paused = false;
  #ended = true; // true from the call of `onEnd` until an arm is added

  /**
   * `make` creates a trainer. It's called once for each arm that trains at the same time, and once after each failure.
   */
  constructor(
    make: () => Trainer<Arm, News, Result>,
    listener: QueueListener<Arm, News, Result>,
    { atOnce = 1, now = () => performance.now() }: QueueOptions = {},
  ) {
    [this.#make, this.#listener, this.#atOnce, this.#now] = [make, listener, atOnce, now];
  }

  /** The arms that are not done, in order. The ones in training come first. */
  get left(): readonly Arm[] {
    return [...Array.from(this.#active, ({ arm }) => arm), ...this.#waiting];
  }

  /** Whether the queue is paused. */
  get paused(): boolean {
    return this.#paused;
  }

  /** Adds arms at the end. Training begins at once unless the queue is paused. */
  add(arms: readonly Arm[]): void {
    this.#waiting.push(...arms);
    this.#ended = false;
    this.#beginArms();
  }

  /** Pauses: no arm begins, and current arms pause if their trainers can. */
  pause(): void {
    if (this.#paused) return;
    this.#paused = true;
    for (const active of this.#active) {
      active.spent += this.#now() - active.began;
      active.trainer.hold?.(true);
    }
  }

  /** Continues after a pause. */
  resume(): void {
    if (!this.#paused) return;
    this.#paused = false;
    for (const active of this.#active) {
      active.began = this.#now();
      active.trainer.hold?.(false);
    }
    this.#beginArms();
  }

  /** Ends the current arms and drops the waiting ones. The only callback after that is `onEnd`. */
  cancel(reason: string): void {
    const active = [...this.#active];
    this.#active.clear();
    this.#waiting.length = 0;
    this.#paused = false;
    for (const { trainer } of active) trainer.end(reason);
    this.#end(reason);
  }

  #beginArms(): void {
    while (!this.#paused && this.#active.size < this.#atOnce && this.#waiting.length > 0) {
      const arm = this.#waiting.shift() as Arm;
      void this.#train({ arm, trainer: this.#idle.pop() ?? this.#make(), began: this.#now(), spent: 0 });
    }
    if (this.left.length === 0) this.#end('No arm is left to train.');
  }

  async #train(active: ActiveArm<Arm, News, Result>): Promise<void> {
    const { arm, trainer } = active;
    this.#active.add(active);
    this.#listener.onBegin?.(arm);
    const tell = (news: News) => {
      if (this.#active.has(active)) this.#listener.onNews?.(arm, news);
    };
    const ended = await trainer.train(arm, tell).then(
      (result) => ({ result }),
      (reason: unknown) => ({ reason }),
    );
    if (!this.#active.delete(active)) return; // cancelled
    const seconds = (active.spent + (this.#paused ? 0 : this.#now() - active.began)) / 1000;
    if ('result' in ended) {
      this.#idle.push(trainer);
      this.#listener.onDone(arm, ended.result, seconds);
    } else {
      trainer.end(ended.reason instanceof Error ? ended.reason.message : String(ended.reason));
      this.#listener.onFailure(arm, ended.reason);
    }
    this.#beginArms();
  }

  #end(reason: string): void {
    if (this.#ended) return;
    [this.#ended, this.#paused] = [true, false];
    for (const trainer of this.#idle.splice(0)) trainer.end(reason);
    this.#listener.onEnd();
  }
}
