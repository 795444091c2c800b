import { FAMILIES, type KernelChoice, type KernelFamily, type TriedVariant } from '../../config/kernelChoice.ts';
import type { VariantSets } from './kernelSets.ts';
import { everyRow, isWhole, missed, waiting, type Tuned } from './tuned.ts';

/** A choice of kernels at work on a small model. Any call may reject: then that choice alone is out. */
export interface Trial {
  /** Worst relative distance of its numbers from the reference; NaN or infinite where they are no numbers. */
  readonly error: () => Promise<number>;
  /** Takes training steps; resolves when the device has done them. */
  readonly train: (steps: number) => Promise<void>;
  /** Draws a chunk of tokens for every row, that many times. */
  readonly draw: (chunks: number) => Promise<void>;
  readonly close: () => void;
}

/** Opens a choice: compiles all its kernels. Rejects when they do not compile. */
export type OpenTrial = (choice: KernelChoice) => Promise<Trial>;

/** What tuning may cost and what passes. */
export interface TuningLimits {
  readonly boxMs: number; // of compiling, checking and timing together; whatever is not measured by then waits for a later run
  readonly tolerance: number; // of `Trial.error`
  readonly rounds: number; // most timings of each variant
}

/** Between two slices: what to wait for while other work goes on, what is known by now, or null where that work is only to be let in. */
export type Pause = { readonly until: Promise<unknown> } | { readonly found: Tuned } | null;

const SLICE_MS = 15; // a timing repeats steps for about this long: clocks and queues of browsers tick in ms
const MOST_STEPS = 32;
const LEAST_ROUNDS = 2;
/** What replaces another variant must be that much faster at its best, and faster in the median too: less is noise. */
const ADVANTAGE = 0.95;
/** What takes that many times the quickest step, twice, and longer than a slice, is not timed again. */
const HOPELESS = 3;
interface Racer {
  readonly variant: KernelChoice[KernelFamily];
  trial: Trial | null;
  error: number | null;
  refused: string;
  late: boolean; // the box closed on it
  ms: number; // least of a step; Infinity before one was timed
  rounds: number[]; // ms of a step in each
}

/**
 * Finds the fastest right choice family by family, the other families at the best so far. It goes on from `start` with what that
 * has not tried. A variant is compiled, its numbers are held against the reference, then it is timed in rounds with the best of its
 * family and with others that are new. The least time counts: other work only ever adds to it. Pull it slice by slice; `return()`
 * ends it at any time.
 */
export function tune(
  sets: VariantSets,
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

  async *run(sets: VariantSets, start: Tuned): AsyncGenerator<Pause, Tuned | null, undefined> {
    let tuned: Tuned = { ...start, tried: everyRow(sets, start) };
    let racers: Racer[] = [];
    let fruitful = false;
    try {
      for (const family of FAMILIES) {
        while (this.inTime && (this.hasRoom || !fruitful)) {
          const left = waiting(family, sets, tuned);
          if (left.length === 0) break;
          const { choice } = tuned;
          const [best] = racers; // so far, and open
          racers = [
            { ...racer(choice[family]), ...(best && { trial: best.trial, error: best.error, refused: best.refused }) },
          ];
          yield* this.enterSome(racers, left, (variant) => ({ ...choice, [family]: variant }));
          yield* this.race(racers, family === 'decoding' ? 'draw' : 'train');
          const taken = fastest(racers);
          tuned = noted(tuned, family, racers, taken);
          racers.filter((each) => each !== taken).forEach(drop);
          racers = [taken ?? racers[0]!]; // one that does not run is not tried again in the next family
          if (waiting(family, sets, tuned).length === left.length) break;
          fruitful = true;
          yield { found: tuned };
        }
      }
      return fruitful || isWhole(sets, tuned) ? tuned : missed(sets, tuned, this.limits.boxMs);
    } finally {
      this.over = true;
      racers.forEach(drop);
    }
  }

  /** Enters the first racer and as many of the variants left as leave half of the time for the race, but one at least. */
  private async *enterSome(
    racers: Racer[],
    left: readonly KernelChoice[KernelFamily][],
    choiceOf: (variant: KernelChoice[KernelFamily]) => KernelChoice,
  ): AsyncGenerator<Pause, void, undefined> {
    const half = (this.spent + this.limits.boxMs) / 2;
    const [first] = racers;
    if (first && !first.trial && !first.refused) yield* this.enter(first, choiceOf(first.variant));
    for (const variant of left) {
      if (!this.inTime || (racers.length > 1 && this.spent + this.entryMs > half)) return;
      const next = racer(variant);
      racers.push(next);
      yield* this.enter(next, choiceOf(variant));
    }
  }

  /** Compiles a racer, while other work goes on, and checks its numbers. */
  private async *enter(racer: Racer, choice: KernelChoice): AsyncGenerator<Pause, void, undefined> {
    const began = this.spent;
    const opening = this.take(racer, async () => {
      racer.trial = await this.open(choice);
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

  /** Times racers in turns: the first one warms up, then rounds of about equal length. */
  private async *race(racers: readonly Racer[], work: 'train' | 'draw'): AsyncGenerator<Pause, void, undefined> {
    const running = () => racers.filter(({ trial, refused }) => trial && !refused);
    const warm = new Map<Racer, number>(); // ms of a second step
    for (const racer of running()) {
      if (!this.inTime) break;
      await this.take(racer, () => racer.trial?.[work](1)); // what a first step does besides is not to be timed
      warm.set(racer, await this.take(racer, () => racer.trial?.[work](1)));
      yield null;
    }
    const quickest = Math.min(...warm.values());
    const hopeless: Racer[] = [];
    for (const [racer, once] of warm) {
      const limit = Math.max(SLICE_MS, HOPELESS * quickest);
      if (!(once > limit && this.inTime && racer.trial && !racer.refused)) continue;
      const twice = await this.take(racer, () => racer.trial?.[work](1)); // anything may have come in between once
      if (twice > limit) hopeless.push(racer);
      racer.ms = Math.min(once, twice);
      yield null;
    }
    const steps = Math.max(1, Math.min(MOST_STEPS, Math.round(SLICE_MS / quickest)));
    for (let round = 0; round < this.limits.rounds; round++) {
      for (const racer of running()) {
        if (!this.inTime) break;
        if (hopeless.includes(racer)) continue;
        const ms = await this.take(racer, () => racer.trial?.[work](steps));
        racer.rounds.push(ms / steps);
        racer.ms = Math.min(...racer.rounds);
        yield null;
      }
    }
    for (const racer of running()) {
      racer.late = racer.rounds.length < LEAST_ROUNDS && !hopeless.includes(racer);
    }
  }

  private get inTime(): boolean {
    return this.spent < this.limits.boxMs;
  }

  /** Whether another racer can probably be compiled and compared: half done, it would be compiled again in the next run. */
  private get hasRoom(): boolean {
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

function racer(variant: KernelChoice[KernelFamily]): Racer {
  return { variant, trial: null, error: null, refused: '', late: false, ms: Infinity, rounds: [] };
}

/** The racer to take: the first, unless another is enough faster or the first is wrong; null where none is left. */
function fastest(racers: readonly Racer[]): Racer | null {
  const [first, ...others] = racers;
  const stays = first?.refused === '' ? first : null;
  let best = stays;
  for (const each of others.filter(({ refused, late }) => !refused && !late)) {
    const enough = best && best === stays ? ADVANTAGE : 1;
    if (!best || (each.ms < enough * best.ms && median(each.rounds) < median(best.rounds))) best = each;
  }
  return best;
}

/** Infinity of none: what was too slow to be timed in rounds. */
function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1] ?? Infinity;
}

/** With what a race told: a racer that is taken, and rows of those that were not late. */
function noted(tuned: Tuned, family: KernelFamily, racers: readonly Racer[], taken: Racer | null): Tuned {
  const choice: KernelChoice = taken ? { ...tuned.choice, [family]: taken.variant } : tuned.choice;
  const tried = tuned.tried.map((row): TriedVariant => {
    if (row.family !== family) return row;
    const raced = racers.find(({ variant, late }) => variant === row.variant && !late);
    return { ...row, ...(raced && account(raced, row)), taken: row.variant === choice[family] };
  });
  return { choice, tried };
}

/** What is known of a racer; one that had raced before keeps its least time. */
function account({ ms, error, refused }: Racer, before: TriedVariant): Partial<TriedVariant> {
  const least = Math.min(ms, before.ms ?? Infinity);
  return { ms: Number.isFinite(least) ? least : null, error, refused, waits: null };
}

function drop(racer: Racer): void {
  racer.trial?.close();
  racer.trial = null;
}
