import { KERNEL_SET_NAMES, type KernelReport, type KernelSet, type TriedSet } from '../../config/kernelChoice.ts';

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
  readonly boxMs: number; // of compiling, checking and timing together; a set that is not timed by then is not taken
  readonly tolerance: number; // of `Trial.error`
  readonly rounds: number; // timings of each set
}

/** The faster of the sets that were right, and what was measured of each. */
export type Tuned = Pick<KernelReport, 'choice' | 'tried'>;

/** Between two slices: what to wait for while other work goes on, or null where that work is only to be let in. */
export type Pause = { readonly until: Promise<unknown> } | null;

const SLICE_MS = 15; // a timing repeats steps for about this long: clocks and queues of browsers tick in ms
const MOST_STEPS = 32;
/** What replaces the first set must be that much faster: less is noise. */
const ADVANTAGE = 0.95;
/** What takes that many times the other's step is not timed again. */
const HOPELESS = 3;

interface Entrant {
  readonly set: KernelSet;
  trial: Trial | null;
  error: number | null;
  refused: string;
  ms: number; // least of a step: other work only ever adds to it; Infinity before one was timed
}

/**
 * Chooses the faster of the two kernel sets. It compiles each, compares its numbers with the reference, then times the two in turns. It
 * takes `first` unless the other one is right and faster. Pull it slice by slice; `return(null)` ends it at any time.
 */
export async function* tune(
  first: KernelSet,
  open: OpenTrial,
  { boxMs, tolerance, rounds }: TuningLimits,
  now: () => number,
): AsyncGenerator<Pause, Tuned | null, undefined> {
  const sets = KERNEL_SET_NAMES.toSorted((a, b) => Number(b === first) - Number(a === first));
  const entrants = sets.map((set): Entrant => ({ set, trial: null, error: null, refused: '', ms: Infinity }));
  const running = () => entrants.filter(({ trial, refused }) => trial && !refused);
  let spent = 0; // ms of its own work, whatever ran in between
  let over = false;
  /** Ms of an entrant's work; one that fails is out. */
  const take = async (one: Entrant, work: () => Promise<void> | undefined): Promise<number> => {
    const began = now();
    try {
      await work();
      return now() - began;
    } catch (error) {
      one.refused ||= `It does not run here: ${error instanceof Error ? error.message : String(error)}`;
      return Infinity;
    } finally {
      spent += now() - began;
    }
  };
  try {
    for (const one of entrants) {
      if (spent >= boxMs) break;
      const opening = take(one, async () => {
        one.trial = await open(one.set);
        if (over) drop(one);
      });
      yield { until: opening };
      await opening;
      await take(one, async () => {
        one.error = (await one.trial?.error()) ?? null;
      });
      if (one.error !== null && !(one.error <= tolerance)) {
        one.refused ||= `Its numbers are not right: off by ${one.error.toPrecision(2)} where ${tolerance} is allowed.`;
      }
      yield null;
    }
    for (const one of running()) {
      if (spent >= boxMs) break;
      await take(one, () => one.trial?.train(1)); // what a first step does besides is not to be timed
      const step = () => take(one, () => one.trial?.train(1));
      one.ms = Math.min(await step(), await step()); // anything may have come in between once
      yield null;
    }
    const quickest = Math.min(...running().map(({ ms }) => ms));
    const steps = Math.max(1, Math.min(MOST_STEPS, Math.round(SLICE_MS / quickest)));
    for (let round = 0; round < rounds && spent < boxMs; round++) {
      for (const one of running()) {
        if (one.ms > Math.max(SLICE_MS, HOPELESS * quickest)) continue;
        one.ms = Math.min(one.ms, (await take(one, () => one.trial?.train(steps))) / steps);
        yield null;
      }
    }
    return settled(entrants, boxMs);
  } finally {
    over = true;
    for (const one of entrants) drop(one);
  }
}

/** Who is taken, and the account of both. Where neither is right the first stays. */
function settled(entrants: readonly Entrant[], boxMs: number): Tuned {
  const right = entrants.filter(({ error, refused }) => error !== null && refused === '');
  const best = right.reduce<Entrant | undefined>((a, b) => (a && b.ms >= ADVANTAGE * a.ms ? a : b), undefined);
  const late = `It was not measured within ${boxMs / 1000} s.`;
  const tried = entrants.map(({ set, ms, error, refused }): TriedSet => {
    const timed = Number.isFinite(ms) && refused === '';
    return {
      ...{ set, error, taken: set === best?.set, ms: timed ? ms : null },
      refused: refused || (timed || set === best?.set ? '' : late),
    };
  });
  return { choice: best?.set ?? entrants[0]!.set, tried };
}

function drop(one: Entrant): void {
  one.trial?.close();
  one.trial = null;
}
