import type { Fault, Moment } from '../wire/commands.ts';
import { loseSharedDevice } from '../gpu/sharedDevice.ts';
import type { Policy } from '../model/policy.ts';
import type { Phase } from '../domain/trainingEvent.ts';

/** Where failures are brought about. */
export interface FaultPlace {
  readonly gpu: GPU | undefined;
  readonly policy: () => Policy | null; // of the run that is there
  readonly lose: (reason: string) => void; // what follows of a lost device, if there is none to lose
}

const STAGE_OF: Readonly<Partial<Record<Phase, Moment>>> = {
  evaluating: 'evaluate',
  sampling: 'rollout',
  scoring: 'score',
  updating: 'learn',
};

/** Failures that are brought about, for tests and teachers: at once, or when the run is where they are due. */
export class Faults {
  private readonly place: FaultPlace;
  private due: Moment | null = null; // a GPU is to be taken away then

  constructor(place: FaultPlace) {
    this.place = place;
  }

  /** Brings one about. A CPU cannot be taken away: there, what follows of a lost device is the same. Throws without a run to break. */
  async inject(fault: Fault, moment: Moment): Promise<void> {
    const policy = this.place.policy();
    if (fault === 'worker-death') globalThis.close();
    else if (fault === 'worker-hang') for (;;);
    else if (fault === 'device-loss' && moment !== 'now') this.due = moment;
    else if (!policy) throw new Error('There is no run to break. Run training first.');
    else if (fault === 'nan') await injectNaN(policy);
    else this.takeAway();
  }

  /** The run enters a stage: what is due there happens in the middle of it. */
  enter(phase: Phase): void {
    const moment = STAGE_OF[phase];
    if (moment) this.reach(moment);
  }

  /** The run is at a moment. */
  reach(moment: Moment): void {
    if (this.due !== moment) return;
    this.due = null;
    if (moment === 'save') this.takeAway();
    else setTimeout(() => this.takeAway(), 0);
  }

  private takeAway(): void {
    const { gpu, policy, lose } = this.place;
    const own = policy();
    if (own?.loseDevice) own.loseDevice();
    else if (gpu && !own) void loseSharedDevice(gpu);
    else lose('made up, for there is none.');
  }
}

const NAME = 'model.norm.weight'; // every output passes it

/** Makes one weight of a policy NaN, as a step that went wrong may: for tests and teachers. */
async function injectNaN(policy: Policy): Promise<void> {
  const { policy: network, critic } = await policy.readState();
  const weight = Float32Array.from(network.weights.get(NAME) ?? []);
  weight[0] = NaN;
  policy.writeState({ policy: { ...network, weights: new Map([...network.weights, [NAME, weight]]) }, critic });
}
