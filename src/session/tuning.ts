import type { Gpu } from '../gpu/device.ts';
import type { Scalar } from '../gpu/tensor.ts';
import type { KernelReport } from '../config/kernelChoice.ts';
import { defaultSet } from '../model/gpu/kernelSets.ts';
import type { GpuPolicyOptions } from '../model/gpu/options.ts';
import { tune, type OpenTrial, type Pause, type Tuned, type TuningLimits } from '../model/gpu/tuner.ts';
import { readTuning, tuningKey } from '../model/gpu/tuningRecord.ts';
import { referenceNumbers, trialsOn, trialSpec } from '../model/gpu/tuningTrial.ts';
import { BackendError, type PolicySpec } from '../model/policy.ts';
import type { LearningMath } from '../model/learningMath.ts';
import type { Answer } from '../wire/questions.ts';
import type { TuningStore } from './tuningStore.ts';

/**
 * Ms a tuning may take, compiling included. A GPU compiles a set in some 100 ms and is done in one or two seconds; an
 * adapter in software needs seconds for each, all of it at the cost of the run's own cores, so that with one the box may close early.
 */
const BOX_MS = { hardware: 8_000, software: 20_000 };
const ROUNDS = 7;
/**
 * Both sides compute in float32, in another order: rounding stays below 1e-5 at the sizes the page offers. What is kept in halves is
 * rounded to 5e-4 at each of some ten places between a token and a gradient.
 */
const TOLERANCE: Readonly<Record<Scalar, number>> = { f32: 1e-3, f16: 3e-2 };
/** Updates of a run before its tuning begins: what starts a run is to have the machine for itself. */
const FIRST_UPDATES = 3;

/** The place tuning runs in. */
export interface TuningPlace {
  readonly store: TuningStore;
  readonly browser: string; // with its version: kernels that are fastest in one may not be in the next
  readonly now: () => number; // ms
  readonly math: LearningMath;
  readonly trials?: (gpu: GPU, spec: PolicySpec) => OpenTrial; // default: small runs on devices of their own
}

type Open<P> = (gpu: GPU, spec: PolicySpec, options: GpuPolicyOptions) => Promise<P>;
type TuneOrNot = GpuPolicyOptions & { readonly tune: boolean };

/** The adapter a policy was opened on, and what was kept for it. */
interface Asked {
  readonly adapter: Gpu;
  readonly key: string;
  readonly kept: KernelReport | null;
}

/**
 * Races the sets of kernels between the updates of a run, on devices of its own, and keeps the faster one for the next run: a run
 * that is under way never changes its kernels.
 */
export class BackgroundTuning {
  private readonly place: TuningPlace;
  private run: AsyncGenerator<Pause, Tuned | null, undefined> | null = null;
  private key = '';
  private updates = 0;
  private compiling = false;
  private found: KernelReport | null = null;

  constructor(place: TuningPlace) {
    this.place = place;
  }

  /** The same listener; with a profile it is told what was measured while the run went on. */
  telling(listener: (answer: Answer) => void): (answer: Answer) => void {
    return (answer) => listener(answer.kind === 'profile' && this.found ? { ...answer, tuned: this.found } : answer);
  }

  /** Opens a policy on the kernels kept for such a run on this adapter; where nothing is kept, gets ready to measure. */
  async openPolicy<P>(open: Open<P>, gpu: GPU, spec: PolicySpec, options: TuneOrNot): Promise<P> {
    const { tune: wanted, ...rest } = options;
    const { storage = 'f32' } = rest;
    if (!wanted) {
      const policy = await open(gpu, spec, rest);
      this.end();
      return policy;
    }
    const asked: Asked[] = [];
    const tuned = async (adapter: Gpu) => {
      const key = tuningKey(adapter, spec, storage, this.place.browser);
      const kept = readTuning(await this.place.store.read(key));
      asked.push({ adapter, key, kept });
      return kept;
    };
    const policy = await open(gpu, spec, { ...rest, tuned }).catch(async (error: unknown) => {
      // a driver may have changed under a choice that ran when it was kept; every other failure comes again
      const taken = asked.find(({ kept }) => kept);
      if (!taken || error instanceof BackendError) throw error;
      await this.place.store.write(taken.key, null);
      return open(gpu, spec, { ...rest, tuned });
    });
    this.end();
    const last = asked.at(-1);
    if (last) this.begin(gpu, spec, storage, last);
    return policy;
  }

  private begin(gpu: GPU, spec: PolicySpec, storage: Scalar, { adapter, key, kept }: Asked): void {
    const { math, now, trials } = this.place;
    if (kept) return;
    const small = trialSpec(spec, adapter.software);
    let numbers: ReturnType<typeof referenceNumbers> | null = null;
    const reference = () => (numbers ??= referenceNumbers(small, math));
    const open = trials ? trials(gpu, small) : trialsOn(gpu, small, storage, reference);
    const boxMs = adapter.software ? BOX_MS.software : BOX_MS.hardware;
    const limits: TuningLimits = { boxMs, tolerance: TOLERANCE[storage], rounds: ROUNDS };
    this.run = tune(defaultSet(adapter), open, limits, now);
    [this.key, this.updates] = [key, 0];
  }

  /** A slice of measuring, while the run stands between two updates. Compiling goes on behind its back instead. */
  async between(): Promise<void> {
    const { run } = this;
    if (!run || this.compiling || ++this.updates <= FIRST_UPDATES) return;
    const slice = await run.next();
    if (run !== this.run) return; // ended meanwhile
    if (slice.done) {
      this.run = null;
      if (slice.value) await this.keep(slice.value);
    } else if (slice.value) {
      this.compiling = true;
      void slice.value.until.then(() => {
        if (run === this.run) this.compiling = false;
      });
    }
  }

  private async keep(found: Tuned): Promise<void> {
    this.found = { ...found, why: 'measured' };
    await this.place.store.write(this.key, found);
  }

  /** Gives up what is not done, and forgets what was found. */
  end(): void {
    void this.run?.return(null);
    [this.run, this.found, this.compiling] = [null, null, false];
  }
}
