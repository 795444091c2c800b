import { FAMILIES, type KernelChoice, type KernelFamily, type TriedVariant } from '../../kernelChoice.ts';
import type { VariantSets } from './kernelSets.ts';

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
  readonly boxMs: number; // of compiling, checking and timing together; whatever is not measured by then is not chosen
  readonly tolerance: number; // of `Trial.error`
  readonly rounds: number; // most timings of each variant
}

/** The fastest choice that was right, and what was measured. */
export interface Tuned {
  readonly choice: KernelChoice;
  readonly tried: readonly TriedVariant[];
}

/** Between two slices: what to wait for while other work goes on, or null where that work is only to be let in. */
export type Pause = { readonly until: Promise<unknown> } | null;

const SLICE_MS = 15; // a timing repeats steps for about this long: clocks and queues of browsers tick in ms
const MOST_STEPS = 32;
const LEAST_ROUNDS = 2;
/** What replaces another variant must be that much faster at its best, and faster in the median too: less is noise. */
const ADVANTAGE = 0.95;
/** What takes that many times the quickest step, twice, and longer than a slice, is not timed again. */
const HOPELESS = 3;
const NO_TIME = 'There was no time left to measure it.';

interface Racer {
  readonly variant: KernelChoice[KernelFamily];
  trial: Trial | null;
  error: number | null;
  refused: string;
  ms: number; // least of a step; Infinity before one was timed
  readonly rounds: number[]; // ms of a step in each
}

/**
 * Finds the fastest right choice family by family, from `start`, the other families at the best so far. A variant is compiled, its
 * numbers are held against the reference, then it is timed in rounds with the others of its family. The least time counts: other
 * work only ever adds to it. Pull it slice by slice; `return()` ends it at any time.
 */
export function tune(
  sets: VariantSets,
  start: KernelChoice,
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
  private over = false;

  constructor(open: OpenTrial, limits: TuningLimits, now: () => number) {
    this.open = open;
    this.limits = limits;
    this.now = now;
  }

  async *run(sets: VariantSets, start: KernelChoice): AsyncGenerator<Pause, Tuned | null, undefined> {
    const tried: TriedVariant[] = [];
    let choice = start;
    let racers: Racer[] = [];
    try {
      for (const family of FAMILIES) {
        if (sets[family].length < 2) continue;
        const [best] = racers; // of the last family: the choice this family begins with
        racers = sets[family]
          .toSorted((a, b) => Number(b === choice[family]) - Number(a === choice[family]))
          .map((variant) => ({ variant, trial: null, error: null, refused: '', ms: Infinity, rounds: [] }));
        if (best && racers[0]) Object.assign(racers[0], { trial: best.trial, error: best.error });
        for (const racer of racers) {
          if (!racer.trial) yield* this.enter(racer, { ...choice, [family]: racer.variant });
        }
        yield* this.race(racers, family === 'decoding' ? 'draw' : 'train');
        const taken = fastest(racers);
        if (taken) choice = { ...choice, [family]: taken.variant };
        tried.push(...racers.map((racer) => account(family, racer, racer.variant === choice[family])));
        for (const racer of racers) if (racer !== taken) drop(racer);
        racers = taken ? [taken] : [];
      }
      return { choice, tried };
    } finally {
      this.over = true;
      racers.forEach(drop);
    }
  }

  /** Compiles a racer, while other work goes on, and checks its numbers. */
  private async *enter(racer: Racer, choice: KernelChoice): AsyncGenerator<Pause, void, undefined> {
    if (!this.inTime) {
      racer.refused = NO_TIME;
      return;
    }
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
      if (racer.rounds.length < LEAST_ROUNDS && !hopeless.includes(racer)) racer.refused = NO_TIME;
    }
  }

  private get inTime(): boolean {
    return this.spent < this.limits.boxMs;
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

/** The racer to take: the first, unless another is enough faster or the first is wrong; null where none is left. */
function fastest(racers: readonly Racer[]): Racer | null {
  const [first, ...others] = racers;
  const stays = first && (first.refused === '' || first.refused === NO_TIME) ? first : null;
  let best = stays;
  for (const racer of others.filter(({ refused }) => !refused)) {
    const enough = best && best === stays ? ADVANTAGE : 1;
    if (!best || (racer.ms < enough * best.ms && median(racer.rounds) < median(best.rounds))) best = racer;
  }
  return best;
}

/** Infinity of none: what was too slow to be timed in rounds. */
function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1] ?? Infinity;
}

function account(family: KernelFamily, { variant, ms, error, refused }: Racer, taken: boolean): TriedVariant {
  return { family, variant, ms: Number.isFinite(ms) ? ms : null, error, refused, taken };
}

function drop(racer: Racer): void {
  racer.trial?.close();
  racer.trial = null;
}
