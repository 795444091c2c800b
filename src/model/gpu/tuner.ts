import {
  KERNEL_SET_NAMES,
  type KernelReport,
  type KernelSet,
  type MeasuredKernelSet,
} from '../../config/kernelChoice.ts';

/** If a call rejects, this set is not chosen; the tuning goes on with the other. */
export interface Trial {
  /** The largest, relative to the reference. NaN or infinite if a number is not finite. */
  readonly error: () => Promise<number>;
  /** Takes training steps; resolves when the device has done them. */
  readonly train: (steps: number) => Promise<void>;
  readonly close: () => void;
}

/** Opens a set: compiles all its kernels. Rejects when they do not compile. */
export type OpenTrial = (set: KernelSet) => Promise<Trial>;

export interface TuningLimits {
  /** Time limit for compiling, checking and timing. A set that is not timed by then loses to one that is. */
  readonly timeLimitMs: number;
  readonly tolerance: number; // of `Trial.error`
  readonly rounds: number; // timings of each set
}

/** The kernel set to use: the faster of the sets whose numbers are correct. `tried` has the measurements of every set. */
export type TuningResult = Pick<KernelReport, 'choice' | 'tried'>;

/** Between two slices: a promise to wait for while other work goes on, or null if other work just gets its turn. */
export type Pause = { readonly until: Promise<unknown> } | null;

const SLICE_MS = 15; // a timing repeats steps for about this long: clocks and queues of browsers tick in ms
const MAX_TIMED_STEPS = 32;
/** The other set replaces the first only if its time is below this share of the first's; a smaller gain may be noise. */
const MAX_TIME_SHARE = 0.95;
/** A set whose step takes more than this many times the other's is not timed again. */
const HOPELESS_RATIO = 3;

interface Candidate {
  readonly set: KernelSet;
  trial: Trial | null;
  error: number | null;
  refused: string;
  ms: number; // shortest time of a step, because other work can only make it longer; Infinity before the first
}

/**
 * Chooses the faster of the two kernel sets. It compiles each, compares its numbers with the reference, then times the
 * two in turns. It takes `preferred` unless the other set has correct numbers and is faster. Pull the generator slice
 * by slice; `return(null)` ends the tuning at any time.
 */
export async function* tune(
  preferred: KernelSet,
  open: OpenTrial,
  { timeLimitMs, tolerance, rounds }: TuningLimits,
  now: () => number,
): AsyncGenerator<Pause, TuningResult | null, undefined> {
  const sets = KERNEL_SET_NAMES.toSorted((a, b) => Number(b === preferred) - Number(a === preferred));
  const candidates = sets.map((set): Candidate => ({ set, trial: null, error: null, refused: '', ms: Infinity }));
  const running = () => candidates.filter(({ trial, refused }) => trial && !refused);
  let tuningMs = 0; // ms that the tuning itself worked, without the work in between
  let ended = false;
  /** Runs a set's work and returns its time in ms. If the work fails, the set can't be chosen any more. */
  const runTimed = async (candidate: Candidate, work: () => Promise<void> | undefined): Promise<number> => {
    const began = now();
    try {
      await work();
      return now() - began;
    } catch (error) {
      candidate.refused ||= `It does not run here: ${error instanceof Error ? error.message : String(error)}`;
      return Infinity;
    } finally {
      tuningMs += now() - began;
    }
  };
  try {
    for (const candidate of candidates) {
      if (tuningMs >= timeLimitMs) break;
      const opening = runTimed(candidate, async () => {
        candidate.trial = await open(candidate.set);
        if (ended) closeTrial(candidate);
      });
      yield { until: opening };
      await opening;
      await runTimed(candidate, async () => {
        candidate.error = (await candidate.trial?.error()) ?? null;
      });
      if (candidate.error !== null && !(candidate.error <= tolerance)) {
        candidate.refused ||= `Its numbers are not right: off by ${candidate.error.toPrecision(2)} where ${tolerance} is allowed.`;
      }
      yield null;
    }
    for (const candidate of running()) {
      if (tuningMs >= timeLimitMs) break;
      // the time of the first step is not used, because it also does work that later steps don't
      await runTimed(candidate, () => candidate.trial?.train(1));
      const step = () => runTimed(candidate, () => candidate.trial?.train(1));
      // the smaller of two, because other work may have delayed a step
      candidate.ms = Math.min(await step(), await step());
      yield null;
    }
    const shortestMs = Math.min(...running().map(({ ms }) => ms));
    const steps = Math.max(1, Math.min(MAX_TIMED_STEPS, Math.round(SLICE_MS / shortestMs)));
    for (let round = 0; round < rounds && tuningMs < timeLimitMs; round++) {
      for (const candidate of running()) {
        if (candidate.ms > Math.max(SLICE_MS, HOPELESS_RATIO * shortestMs)) continue;
        candidate.ms = Math.min(candidate.ms, (await runTimed(candidate, () => candidate.trial?.train(steps))) / steps);
        yield null;
      }
    }
    return chooseSet(candidates, timeLimitMs);
  } finally {
    ended = true;
    for (const candidate of candidates) closeTrial(candidate);
  }
}

/** Chooses a set and reports on both. If neither has correct numbers, the first set stays. */
function chooseSet(candidates: readonly Candidate[], timeLimitMs: number): TuningResult {
  const correct = candidates.filter(({ error, refused }) => error !== null && refused === '');
  const best = correct.reduce<Candidate | undefined>((a, b) => (a && b.ms >= MAX_TIME_SHARE * a.ms ? a : b), undefined);
  const notMeasured = `It was not measured within ${timeLimitMs / 1000} s.`;
  const tried = candidates.map(({ set, ms, error, refused }): MeasuredKernelSet => {
    const timed = Number.isFinite(ms) && refused === '';
    return {
      ...{ set, error, taken: set === best?.set, ms: timed ? ms : null },
      refused: refused || (timed || set === best?.set ? '' : notMeasured),
    };
  });
  return { choice: best?.set ?? candidates[0]!.set, tried };
}

function closeTrial(candidate: Candidate): void {
  candidate.trial?.close();
  candidate.trial = null;
}
