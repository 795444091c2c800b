/** Who trains one arm after the other: a worker beside the lab, the lab itself, a process of the command line. */
export interface Trainer<Arm, News, Result> {
  /** Trains an arm to its end, and tells how far it is. Rejects with the reason if it can't go on. */
  readonly train: (arm: Arm, tell: (news: News) => void) => Promise<Result>;
  /** Stops the arm under way for a while, or lets it go on. A trainer without this finishes its arm while the queue is paused. */
  readonly hold?: (still: boolean) => void;
  /** Ends for good, with the arm under way. What the arm's promise does then is ignored. */
  readonly end: (reason: string) => void;
}

/** Callbacks of a queue. */
export interface QueueListener<Arm, News, Result> {
  readonly onBegin?: (arm: Arm) => void;
  readonly onNews?: (arm: Arm, news: News) => void;
  readonly onDone: (arm: Arm, result: Result, seconds: number) => void; // without the time it was paused
  readonly onFailure: (arm: Arm, reason: unknown) => void; // the next arm gets a fresh trainer
  readonly onEnd: () => void; // no arm is left: all have ended, or the rest was cancelled
}

interface QueueOptions {
  readonly atOnce?: number; // arms that train at the same time; 1 by default
  readonly now?: () => number; // ms
}

interface Under<Arm, News, Result> {
  readonly arm: Arm;
  readonly trainer: Trainer<Arm, News, Result>;
  began: number; // or went on, ms
  spent: number; // before the last pause, ms
}

/**
 * The queue of arms for everything that trains several: comparisons, experiments, lessons, and the command line's experiments and sweeps.
 * An arm is a run to train: its configuration, seed and start. The queue begins arms in their order, pauses, goes on and cancels; after a
 * failure the next arm gets a fresh trainer. It stores nothing: who stores `left` and adds it to a new queue goes on after a reload.
 */
export class ArmQueue<Arm, News, Result> {
  readonly #make: () => Trainer<Arm, News, Result>;
  readonly #listener: QueueListener<Arm, News, Result>;
  readonly #atOnce: number;
  readonly #now: () => number;
  readonly #waiting: Arm[] = [];
  readonly #free: Trainer<Arm, News, Result>[] = []; // they wait for the next arm
  readonly #under = new Set<Under<Arm, News, Result>>();
  #paused = false;
  #ended = true; // `onEnd` was told, and nothing was added since

  /** `make` is called for each trainer that is needed: one for each arm that trains at the same time, and one after each failure. */
  constructor(
    make: () => Trainer<Arm, News, Result>,
    listener: QueueListener<Arm, News, Result>,
    { atOnce = 1, now = () => performance.now() }: QueueOptions = {},
  ) {
    [this.#make, this.#listener, this.#atOnce, this.#now] = [make, listener, atOnce, now];
  }

  /** The arms that have not ended, in order. Those under way come first. */
  get left(): readonly Arm[] {
    return [...Array.from(this.#under, ({ arm }) => arm), ...this.#waiting];
  }

  /** Whether it is held; arms may wait in it. */
  get paused(): boolean {
    return this.#paused;
  }

  /** Puts arms at the end of the queue. It begins at once unless it is paused. */
  add(arms: readonly Arm[]): void {
    this.#waiting.push(...arms);
    this.#ended = false;
    this.#take();
  }

  /** Stops for a while: no arm begins, and those under way stand still where their trainers can. */
  pause(): void {
    if (this.#paused) return;
    this.#paused = true;
    for (const under of this.#under) {
      under.spent += this.#now() - under.began;
      under.trainer.hold?.(true);
    }
  }

  /** Goes on after a pause. */
  resume(): void {
    if (!this.#paused) return;
    this.#paused = false;
    for (const under of this.#under) {
      under.began = this.#now();
      under.trainer.hold?.(false);
    }
    this.#take();
  }

  /** Ends the arms under way and forgets those that wait. Nothing is heard of them any more but `onEnd`. */
  cancel(reason: string): void {
    const under = [...this.#under];
    this.#under.clear();
    this.#waiting.length = 0;
    this.#paused = false;
    for (const { trainer } of under) trainer.end(reason);
    this.#end(reason);
  }

  #take(): void {
    while (!this.#paused && this.#under.size < this.#atOnce && this.#waiting.length > 0) {
      const arm = this.#waiting.shift() as Arm;
      void this.#train({ arm, trainer: this.#free.pop() ?? this.#make(), began: this.#now(), spent: 0 });
    }
    if (this.left.length === 0) this.#end('No arm is left to train.');
  }

  async #train(under: Under<Arm, News, Result>): Promise<void> {
    const { arm, trainer } = under;
    this.#under.add(under);
    this.#listener.onBegin?.(arm);
    const tell = (news: News) => {
      if (this.#under.has(under)) this.#listener.onNews?.(arm, news);
    };
    const ended = await trainer.train(arm, tell).then(
      (result) => ({ result }),
      (reason: unknown) => ({ reason }),
    );
    if (!this.#under.delete(under)) return; // cancelled
    const seconds = (under.spent + (this.#paused ? 0 : this.#now() - under.began)) / 1000;
    if ('result' in ended) {
      this.#free.push(trainer);
      this.#listener.onDone(arm, ended.result, seconds);
    } else {
      trainer.end(ended.reason instanceof Error ? ended.reason.message : String(ended.reason));
      this.#listener.onFailure(arm, ended.reason);
    }
    this.#take();
  }

  #end(reason: string): void {
    if (this.#ended) return;
    [this.#ended, this.#paused] = [true, false];
    for (const trainer of this.#free.splice(0)) trainer.end(reason);
    this.#listener.onEnd();
  }
}
