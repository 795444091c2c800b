import { KERNEL_SET_NAMES, type KernelReport, type KernelSet, type TriedSet } from '../../config/kernelChoice.ts';

/**
 * A set of kernels that runs a small model. If a call rejects, this set is not chosen; the tuning goes on with the
 * other.
 */
export interface Trial {
  /**
   * Largest relative error of its numbers against the reference. NaN or infinite if one of its numbers is not finite.
   */
  readonly error: () => Promise<number>;
  /** Takes training steps; resolves when the device has done them. */
  readonly train: (steps: number) => Promise<void>;
  readonly close: () => void;
}

/** Opens a set: compiles all its kernels. Rejects when they do not compile. */
export type OpenTrial = (set: KernelSet) => Promise<Trial>;

/** Limits of a tuning: its time, and the error that a set may have. */
export interface TuningLimits {
  readonly boxMs: number; // time limit for compiling, checking and timing; a set not timed by then loses to a timed one
  readonly tolerance: number; // of `Trial.error`
  readonly rounds: number; // timings of each set
}

/**
 * The kernel set to use: the faster of the sets whose numbers are correct. `tried` has the measurements of every set.
 */
export type Tuned = Pick<KernelReport, 'choice' | 'tried'>;

/** Between two slices: a promise to wait for while other work goes on, or null if other work just gets its turn. */
export type Pause = { readonly until: Promise<unknown> } | null;

const SLICE_MS = 15; // a timing repeats steps for about this long: clocks and queues of browsers tick in ms
const MAX_TIMED_STEPS = 32;
/**
 * The other set replaces the first only if its time is below this share of the first's; a smaller gain may be noise.
 */
const MAX_TIME_SHARE = 0.95;
/** A set whose step takes more than this many times the other's is not timed again. */
const HOPELESS_RATIO = 3;

interface Entrant {
  readonly set: KernelSet;
  trial: Trial | null;
  error: number | null;
  refused: string;
  ms: number; // shortest time of a step, because other work can only make it longer; Infinity before the first
}

/**
 * Chooses the faster of the two kernel sets. It compiles each, compares its numbers with the reference, then times the
 * two in turns. It takes `first` unless the other one is right and faster. Pull it slice by slice; `return(null)` ends
 * it at any time.
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
  let tuningMs = 0; // ms that the tuning itself worked, without the work in between
  let over = false;
  /** Runs a set's work and returns its time in ms. If the work fails, the set can't be chosen any more. */
  const take = async (one: Entrant, work: () => Promise<void> | undefined): Promise<number> => {
    const began = now();
    try {
      await work();
      return now() - began;
    } catch (error) {
      one.refused ||= `It does not run here: ${error instanceof Error ? error.message : String(error)}`;
      return Infinity;
    } finally {
      tuningMs += now() - began;
    }
  };
  try {
    for (const one of entrants) {
      if (tuningMs >= boxMs) break;
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
      if (tuningMs >= boxMs) break;
      await take(one, () => one.trial?.train(1)); // not timed: the first step also does work that later ones don't
      const step = () => take(one, () => one.trial?.train(1));
      one.ms = Math.min(await step(), await step()); // the smaller of two, because other work may have delayed one
      yield null;
    }
    const quickest = Math.min(...running().map(({ ms }) => ms));
    const steps = Math.max(1, Math.min(MAX_TIMED_STEPS, Math.round(SLICE_MS / quickest)));
    for (let round = 0; round < rounds && tuningMs < boxMs; round++) {
      for (const one of running()) {
        if (one.ms > Math.max(SLICE_MS, HOPELESS_RATIO * quickest)) continue;
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

/** Chooses a set and reports on both. If neither has correct numbers, the first one stays. */
function settled(entrants: readonly Entrant[], boxMs: number): Tuned {
  const right = entrants.filter(({ error, refused }) => error !== null && refused === '');
  const best = right.reduce<Entrant | undefined>((a, b) => (a && b.ms >= MAX_TIME_SHARE * a.ms ? a : b), undefined);
  const notMeasured = `It was not measured within ${boxMs / 1000} s.`;
  const tried = entrants.map(({ set, ms, error, refused }): TriedSet => {
    const timed = Number.isFinite(ms) && refused === '';
    return {
      ...{ set, error, taken: set === best?.set, ms: timed ? ms : null },
      refused: refused || (timed || set === best?.set ? '' : notMeasured),
    };
  });
  return { choice: best?.set ?? entrants[0]!.set, tried };
}

function drop(one: Entrant): void {
  one.trial?.close();
  one.trial = null;
}
