import type { Gpu } from '../../gpu/device.ts';
import type { Scalar } from '../../gpu/tensor.ts';
import type { PolicySpec } from '../policy.ts';
import { persistentRefusal } from './decodePersistent.ts';
import type { DecodeChoice } from './options.ts';

/**
 * The ways to decode that a device and a model allow and that may be the faster there, the default first. On software adapters,
 * where shared memory and barriers are dear, the persistent kernel loses (docs/journal/engine.md), so it is not among them.
 */
export function decodeChoices(
  gpu: Pick<Gpu, 'device' | 'software'>,
  { model }: Pick<PolicySpec, 'model'>,
  storage: Scalar = 'f32',
): readonly DecodeChoice[] {
  return !gpu.software && persistentRefusal(gpu, model, storage) === null ? ['stepwise', 'persistent'] : ['stepwise'];
}
