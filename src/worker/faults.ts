import type { Fault, Moment } from '../wire/commands.ts';
import { loseSharedDevice } from '../gpu/sharedDevice.ts';
import type { Policy } from '../model/policy.ts';
import type { Phase } from '../domain/trainingEvent.ts';

/** The run and the GPU in which failures are caused. */
export interface FaultContext {
  readonly gpu: GPU | undefined;
  readonly policy: () => Policy | null; // policy of the current run
  readonly reportLoss: (reason: string) => void; // reports a lost device if there is none to lose
}

const STAGE_OF: Readonly<Partial<Record<Phase, Moment>>> = {
  evaluating: 'evaluate',
  sampling: 'rollout',
  scoring: 'score',
  updating: 'learn',
};

/** Causes failures for tests and teachers: at once, or when the run reaches a given stage. */
export class Faults {
  private readonly context: FaultContext;
  private dueMoment: Moment | null = null; // moment at which the GPU will be lost

  constructor(context: FaultContext) {
    this.context = context;
  }

  /** Causes a failure. A CPU cannot be lost, so a lost device is only reported. Throws if there is no run. */
  async inject(fault: Fault, moment: Moment): Promise<void> {
    const policy = this.context.policy();
    if (fault === 'worker-death') globalThis.close();
    else if (fault === 'worker-hang') hang();
    else if (fault === 'device-loss' && moment !== 'now') this.dueMoment = moment;
    else if (!policy) throw new Error('There is no run to break. Run training first.');
    else if (fault === 'nan') await injectNaN(policy);
    else this.loseDevice();
  }

  /** Call it when the run enters a stage: a failure for this stage happens in the middle of it. */
  onPhase(phase: Phase): void {
    const moment = STAGE_OF[phase];
    if (moment) this.onMoment(moment);
  }

  /** Call it when the run reaches a moment. */
  onMoment(moment: Moment): void {
    if (this.dueMoment !== moment) return;
    this.dueMoment = null;
    if (moment === 'save') this.loseDevice();
    else setTimeout(() => this.loseDevice(), 0);
  }

  private loseDevice(): void {
    const { gpu, policy, reportLoss } = this.context;
    const runPolicy = policy();
    if (runPolicy?.loseDevice) runPolicy.loseDevice();
    else if (gpu && !runPolicy) void loseSharedDevice(gpu);
    else reportLoss('simulated, because there is no GPU.');
  }
}

const BROKEN_TENSOR = 'model.norm.weight'; // all outputs depend on it

/** Makes one weight of a policy NaN, as a failed optimizer step would. */
async function injectNaN(policy: Policy): Promise<void> {
  const { policy: network, critic } = await policy.readState();
  const weight = Float32Array.from(network.weights.get(BROKEN_TENSOR) ?? []);
  weight[0] = NaN;
  policy.writeState({
    policy: { ...network, weights: new Map([...network.weights, [BROKEN_TENSOR, weight]]) },
    critic,
  });
}

/** Never returns, and takes no time of a processor. */
function hang(): void {
  const { buffer } = new WebAssembly.Memory({ initial: 1, maximum: 1, shared: true });
  Atomics.wait(new Int32Array(buffer), 0, 0);
}
