import type { KernelSet, TriedSet } from '../../config/kernelChoice.ts';
import { everyRow, missed, waiting, type Tuned } from './tuned.ts';

/** A set of kernels at work on a small model. Any call may reject: then that set alone is out. */
export interface Trial {
  /** Worst relative distance of its numbers from the reference; NaN or infinite where they are no numbers. */
  readonly error: () => Promise<number>;
  /** Takes training steps; resolves when the device has done them. */
  readonly train: (steps: number) => Promise<void>;
  readonly close: () => void;
}

/** Opens a set: compiles all its kernels. Rejects when they do not compile. */
export type OpenTrial = (set: KernelSet) => Promise<Trial>;

/** What tuning may cost and what passes. */
export interface TuningLimits {
  readonly boxMs: number; // of compiling, checking and timing together; whatever is not measured by then waits for a later run
  readonly tolerance: number; // of `Trial.error`
  readonly rounds: number; // most timings of each set against another
}

/** Between two slices: what to wait for while other work goes on, what is known by now, or null where that work is only to be let in. */
export type Pause = { readonly until: Promise<unknown> } | { readonly found: Tuned } | null;

const SLICE_MS = 15; // a timing repeats steps for about this long: clocks and queues of browsers tick in ms
const MOST_STEPS = 32;
const LEAST_ROUNDS = 2;
/** What replaces another set must be that much faster at its best, and faster in the median too: less is noise. */
const ADVANTAGE = 0.95;
/** What takes that many times the quicker one's step, twice, and longer than a slice, is not timed again. */
const HOPELESS = 3;

interface Racer {
  readonly set: KernelSet;
  trial: Trial | null;
  error: number | null;
  refused: string;
  hopeless: boolean;
  ms: number; // least of a step; Infinity before one was timed
  rounds: number[]; // ms of a step in each
}

/**
 * Finds the fastest right set. It goes on from `start` with what that has not tried: each rival is compiled, its numbers are held
 * against the reference, then it is timed in turns with the best so far. The least time counts: other work only ever adds to it.
 * Pull it slice by slice; `return()` ends it at any time.
 */
export function tune(
  sets: readonly KernelSet[],
  start: Tuned,
  open: OpenTrial,
  limits: TuningLimits,
  now: () => number,
): AsyncGenerator<Pause, Tuned | null, undefined> {
  return new Tuning(open, limits, now).run(sets, start);
}

class Tuning {
  private readonly open: OpenTrial;
  private readonly limits: TuningLimits;
  private readonly now: () => number;
  private spent = 0; // ms of its own work, whatever ran in between
  private entryMs = 0; // most that one racer took to compile and to be checked
  private over = false;

  constructor(open: OpenTrial, limits: TuningLimits, now: () => number) {
    this.open = open;
    this.limits = limits;
    this.now = now;
  }

  async *run(sets: readonly KernelSet[], start: Tuned): AsyncGenerator<Pause, Tuned | null, undefined> {
    let tuned: Tuned = { ...start, tried: everyRow(sets, start) };
    let best = racer(start.choice);
    let rival: Racer | null = null;
    let compared = false;
    try {
      for (const set of waiting(sets, tuned)) {
        if (!this.inTime() || (compared && !this.hasRoom())) break;
        if (!best.trial && !best.refused) yield* this.enter(best);
        if (!this.inTime()) break;
        rival = racer(set);
        yield* this.enter(rival);
        yield* this.race([best, rival]);
        if (!rival.refused && !rival.hopeless && rival.rounds.length < LEAST_ROUNDS) break; // the box closed on it
        const winner = faster(best, rival);
        tuned = noted(tuned, [best, rival], winner);
        if (winner === rival) [best, rival] = [rival, best];
        drop(rival);
        compared = true;
        yield { found: tuned };
      }
      return compared || waiting(sets, tuned).length === 0 ? tuned : missed(sets, tuned, this.limits.boxMs);
    } finally {
      this.over = true;
      drop(best);
      if (rival) drop(rival);
    }
  }

  /** Compiles a racer, while other work goes on, and checks its numbers. */
  private async *enter(racer: Racer): AsyncGenerator<Pause, void, undefined> {
    const began = this.spent;
    const opening = this.take(racer, async () => {
      racer.trial = await this.open(racer.set);
      if (this.over) drop(racer);
    });
    yield { until: opening };
    await opening;
    await this.take(racer, async () => {
      racer.error = (await racer.trial?.error()) ?? null;
    });
    if (racer.error !== null && !(racer.error <= this.limits.tolerance)) {
      racer.refused = `Its numbers are not right: off by ${racer.error.toPrecision(2)} where ${this.limits.tolerance} is allowed.`;
    }
    this.entryMs = Math.max(this.entryMs, this.spent - began);
    yield null;
  }

  /** Times racers in turns: a step to warm up, one or two by which the hopeless are found, then rounds of about equal length. */
  private async *race(racers: readonly Racer[]): AsyncGenerator<Pause, void, undefined> {
    const running = () => racers.filter(({ trial, refused, hopeless }) => trial && !refused && !hopeless);
    const step = (racer: Racer, steps = 1) => this.take(racer, () => racer.trial?.train(steps));
    const warm = new Map<Racer, number>();
    for (const racer of running()) {
      racer.rounds = [];
      if (!this.inTime()) break;
      await step(racer); // what a first step does besides is not to be timed
      warm.set(racer, await step(racer));
      yield null;
    }
    const quickest = Math.min(...warm.values());
    const limit = Math.max(SLICE_MS, HOPELESS * quickest);
    for (const racer of running()) {
      const once = warm.get(racer) ?? 0;
      if (once <= limit || !this.inTime()) continue;
      const twice = await step(racer); // anything may have come in between once
      racer.hopeless = twice > limit;
      racer.ms = Math.min(racer.ms, once, twice);
      yield null;
    }
    const steps = Math.max(1, Math.min(MOST_STEPS, Math.round(SLICE_MS / quickest)));
    for (let round = 0; round < this.limits.rounds; round++) {
      for (const racer of running()) {
        if (!this.inTime()) return;
        racer.rounds.push((await step(racer, steps)) / steps);
        racer.ms = racer.refused ? Infinity : Math.min(racer.ms, ...racer.rounds);
        yield null;
      }
    }
  }

  private inTime(): boolean {
    return this.spent < this.limits.boxMs;
  }

  /** Whether another racer can probably be compiled and compared: half done, it would be compiled again in the next run. */
  private hasRoom(): boolean {
    return this.spent + this.entryMs < this.limits.boxMs;
  }

  /** Does work of a racer within the box; one that fails is out. Its ms, Infinity where it failed. */
  private async take(racer: Racer, work: () => Promise<void> | undefined): Promise<number> {
    const began = this.now();
    try {
      await work();
      return this.now() - began;
    } catch (error) {
      racer.refused ||= `It does not run here: ${error instanceof Error ? error.message : String(error)}`;
      racer.ms = Infinity;
      return Infinity;
    } finally {
      this.spent += this.now() - began;
    }
  }
}

function racer(set: KernelSet): Racer {
  return { set, trial: null, error: null, refused: '', hopeless: false, ms: Infinity, rounds: [] };
}

/** The racer to take: the first, unless the second is enough faster or the first is wrong; null where neither is right. */
function faster(first: Racer, second: Racer): Racer | null {
  if (second.refused) return first.refused ? null : first;
  if (first.refused) return second;
  const [was, is] = [Math.min(...first.rounds), Math.min(...second.rounds)]; // of this race: other minutes have other times
  return is < ADVANTAGE * was && median(second.rounds) < median(first.rounds) ? second : first;
}

/** Infinity of none: what was too slow to be timed in rounds. */
function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1] ?? Infinity;
}

/** With what a race told. */
function noted(tuned: Tuned, racers: readonly Racer[], taken: Racer | null): Tuned {
  const choice = taken?.set ?? tuned.choice;
  const tried = tuned.tried.map((row): TriedSet => {
    const raced = racers.find(({ set }) => set === row.set);
    return { ...row, ...(raced && account(raced, row)), taken: row.set === choice && !raced?.refused };
  });
  return { choice, tried };
}

/** What is known of a racer; one that had raced before keeps its least time. */
function account({ ms, error, refused }: Racer, before: TriedSet): Partial<TriedSet> {
  const least = Math.min(ms, before.ms ?? Infinity);
  return { ms: Number.isFinite(least) && !refused ? least : null, error, refused, waits: null };
}

function drop(racer: Racer): void {
  racer.trial?.close();
  racer.trial = null;
}
