import { submit, type Gpu } from '../../gpu/device.ts';
import { Readback } from '../../gpu/readback.ts';
import type { NetworkState, PolicyState } from '../policy.ts';
import { unpack, type GpuNetworkTensors } from './networkTensors.ts';

const tensorsOf = ({ weights, adamM, adamV, stepCounts }: GpuNetworkTensors) => [weights, adamM, adamV, stepCounts];

/** Reads all in one awaited read, after every update, so the staging buffer is created once. Overlapping reads wait for each other. */
export class StateReader {
  private readonly gpu: Gpu;
  private readonly networks: readonly GpuNetworkTensors[];
  private readonly readback: Readback;
  private lastRead: Promise<unknown> = Promise.resolve();

  constructor(gpu: Gpu, policy: GpuNetworkTensors, critic: GpuNetworkTensors | null) {
    this.gpu = gpu;
    this.networks = critic ? [policy, critic] : [policy];
    this.readback = new Readback(gpu, 'state', this.networks.flatMap(tensorsOf));
  }

  /** Reads the state once the device has finished all submitted work. */
  read(): Promise<PolicyState> {
    const nextRead = this.lastRead.then(() => this.copy());
    this.lastRead = nextRead.catch(() => undefined);
    return nextRead;
  }

  private async copy(): Promise<PolicyState> {
    submit(this.gpu, (encoder) => this.readback.encode(encoder));
    const words = await this.readback.read();
    const [policy, critic = null] = this.networks.map(({ layout }, network): NetworkState => {
      const [w, m, v, c] = words.slice(4 * network);
      if (!w || !m || !v || !c) throw new Error('StateReader: the read-back has too few tensors.');
      return { weights: unpack(layout, w), adamM: unpack(layout, m), adamV: unpack(layout, v), steps: c[0]! };
    });
    if (!policy) throw new Error('StateReader: there is no policy.');
    return { policy, critic };
  }
}
