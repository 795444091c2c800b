import type { Gpu } from '../gpu/device.ts';
import type { ScalarType } from '../gpu/tensor.ts';
import type { KernelReport } from '../config/kernelChoice.ts';
import { defaultSet } from '../model/gpu/kernelSets.ts';
import type { GpuPolicyOptions } from '../model/gpu/options.ts';
import { tune, type OpenTrial, type Pause, type TuningResult, type TuningLimits } from '../model/gpu/tuner.ts';
import { readTuning, tuningKey } from '../model/gpu/tuningRecord.ts';
import { referenceNumbers, trialsOn, trialSpec } from '../model/gpu/tuningTrial.ts';
import { BackendError, type PolicySpec } from '../model/policy.ts';
import type { LearningMath } from '../model/learningMath.ts';
import type { Answer } from '../wire/questions.ts';
import type { TuningStore } from './tuningStore.ts';

/**
 * Time limit of a tuning in ms, compiling included. A GPU compiles a set in about 100 ms, and its tuning is done in one
 * or two seconds. A software adapter needs seconds for each set, on the same CPU cores that train the run, so there the
 * limit may end the tuning early.
 */
const TIME_LIMIT_MS = { hardware: 8_000, software: 20_000 };
/** Number of timings of each set. */
const ROUNDS = 7;
/**
 * Largest relative error of a set's numbers against the CPU's. Both compute in float32, but in a different order: at
 * the sizes that the page offers, the rounding errors stay below 1e-5. With float16 storage, values are rounded by up
 * to 5e-4 at each of about ten places between a token and a gradient.
 */
const TOLERANCE: Readonly<Record<ScalarType, number>> = { f32: 1e-3, f16: 3e-2 };
/** Number of updates before the tuning begins, so that it doesn't slow the start of the run. */
const FIRST_UPDATES = 3;

export interface TuningHost {
  readonly store: TuningStore;
  readonly browser: string; // name and version: the fastest kernels of one version may not be the fastest of the next
  readonly now: () => number; // ms
  readonly math: LearningMath;
  readonly trials?: (gpu: GPU, spec: PolicySpec) => OpenTrial; // default: small runs on devices of their own
}

type Open<P> = (gpu: GPU, spec: PolicySpec, options: GpuPolicyOptions) => Promise<P>;
type TuneOrNot = GpuPolicyOptions & { readonly tune: boolean };

interface OpenedAdapter {
  readonly adapter: Gpu;
  readonly key: string;
  readonly storedReport: KernelReport | null;
}

/** Times both between updates, on devices of its own. Stores the faster for the next run: a run never changes its kernels. */
export class BackgroundTuning {
  private readonly host: TuningHost;
  private run: AsyncGenerator<Pause, TuningResult | null, undefined> | null = null;
  private key = '';
  private updates = 0;
  private compiling = false;
  private result: KernelReport | null = null;

  constructor(place: TuningHost) {
    this.host = place;
  }

  /** Wraps a listener: answers that hold a profile also get the result of the tuning, if there is one. */
  withResult(listener: (answer: Answer) => void): (answer: Answer) => void {
    return (answer) => listener(answer.kind === 'profile' && this.result ? { ...answer, tuned: this.result } : answer);
  }

  /** Uses the kernels that an earlier tuning stored for such a run on this adapter. If none are stored, prepares a tuning. */
  async openPolicy<P>(open: Open<P>, gpu: GPU, spec: PolicySpec, options: TuneOrNot): Promise<P> {
    const { tune: isWanted, ...rest } = options;
    const { storage = 'f32' } = rest;
    if (!isWanted) {
      const policy = await open(gpu, spec, rest);
      this.end();
      return policy;
    }
    const adapters: OpenedAdapter[] = [];
    const tuned = async (adapter: Gpu) => {
      const key = tuningKey(adapter, spec, storage, this.host.browser);
      const storedReport = readTuning(await this.host.store.read(key));
      adapters.push({ adapter, key, storedReport });
      return storedReport;
    };
    const policy = await open(gpu, spec, { ...rest, tunedKernels: tuned }).catch(async (error: unknown) => {
      // Stored kernels may no longer run, for example after a driver update, so they are deleted and the default is
      // tried. If the error has another cause, it occurs again.
      const tunedAdapter = adapters.find(({ storedReport: kept }) => kept);
      if (!tunedAdapter || error instanceof BackendError) throw error;
      await this.host.store.write(tunedAdapter.key, null);
      return open(gpu, spec, { ...rest, tunedKernels: tuned });
    });
    this.end();
    const lastAdapter = adapters.at(-1);
    if (lastAdapter) this.begin(gpu, spec, storage, lastAdapter);
    return policy;
  }

  private begin(
    gpu: GPU,
    spec: PolicySpec,
    storage: ScalarType,
    { adapter, key, storedReport: kept }: OpenedAdapter,
  ): void {
    const { math, now, trials } = this.host;
    if (kept) return;
    const smallSpec = trialSpec(spec, adapter.software);
    let numbers: ReturnType<typeof referenceNumbers> | null = null;
    const reference = () => (numbers ??= referenceNumbers(smallSpec, math));
    const open = trials ? trials(gpu, smallSpec) : trialsOn(gpu, smallSpec, storage, reference);
    const boxMs = adapter.software ? TIME_LIMIT_MS.software : TIME_LIMIT_MS.hardware;
    const limits: TuningLimits = { timeLimitMs: boxMs, tolerance: TOLERANCE[storage], rounds: ROUNDS };
    this.run = tune(defaultSet(adapter), open, limits, now);
    [this.key, this.updates] = [key, 0];
  }

  /** Call it between two updates: the run waits while kernels are timed, but not while they compile. */
  async runSlice(): Promise<void> {
    const { run } = this;
    if (!run || this.compiling || ++this.updates <= FIRST_UPDATES) return;
    const slice = await run.next();
    if (run !== this.run) return; // `end` was called while this waited
    if (slice.done) {
      this.run = null;
      if (slice.value) await this.store(slice.value);
    } else if (slice.value) {
      this.compiling = true;
      void slice.value.until.then(() => {
        if (run === this.run) this.compiling = false;
      });
    }
  }

  private async store(found: TuningResult): Promise<void> {
    this.result = { ...found, why: 'measured' };
    await this.host.store.write(this.key, found);
  }

  /** Stops the tuning and forgets its result. */
  end(): void {
    void this.run?.return(null);
    [this.run, this.result, this.compiling] = [null, null, false];
  }
}
