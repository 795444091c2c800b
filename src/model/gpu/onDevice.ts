import { causeOf, DeviceLostError, openGpu, type Gpu } from '../../gpu/device.ts';
import { shareGpu } from '../../gpu/sharedDevice.ts';
import { LimitError } from '../../gpu/tensor.ts';
import { BackendError } from '../policy.ts';

export interface DeviceOptions {
  readonly ownDevice?: boolean; // opens a device of its own instead of sharing that of the page's runs
  readonly onLost?: (reason: string) => void; // called when the device is lost
}

/**
 * Opens something on a GPU device, and closes the device if that fails. Throws NoGpuError without an adapter,
 * DeviceLostError if the device is lost meanwhile, and `refusal` in place of a LimitError.
 */
export async function openOnDevice<T>(
  gpu: GPU | undefined,
  { ownDevice, onLost }: DeviceOptions,
  open: (gpu: Gpu) => Promise<T>,
  refusal: (error: LimitError) => BackendError,
): Promise<T> {
  const opened = await (ownDevice ? openGpu : shareGpu)(gpu);
  try {
    const deviceLost = opened.lost.then((reason) => Promise.reject(new DeviceLostError(reason)));
    deviceLost.catch(() => undefined); // handled in the race, and later by `onLost`
    const result = await Promise.race([open(opened), deviceLost]);
    void opened.lost.then((reason) => {
      if (!opened.closed) onLost?.(reason);
    });
    return result;
  } catch (error) {
    const isKnown = error instanceof LimitError || error instanceof BackendError || error instanceof DeviceLostError;
    const cause = isKnown ? error : await causeOf(error, opened.lost);
    opened.close();
    throw error instanceof LimitError ? refusal(error) : cause;
  }
}
