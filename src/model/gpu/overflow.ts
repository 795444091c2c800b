import type { Gpu } from '../../gpu/device.ts';
import { readOnce } from '../../gpu/readback.ts';
import type { Tensor } from '../../gpu/tensor.ts';
import type { StepStats } from '../policyReport.ts';
import type { Activations } from './activations.ts';

const EXPONENT = 0x7c00; // of a half, all ones: infinity or NaN

/**
 * Names what overflowed f16, whose largest number is 65,504, in steps that failed with a number that is not finite. If the culprit is a
 * weight, it is known already. If it is a gradient, the first saved activation that is not finite is named, in the order in which the
 * last forward pass computed them. Reads the activations tensor by tensor, and only if a step failed.
 */
export async function blameHalves(
  gpu: Gpu,
  acts: Activations,
  layers: number,
  steps: readonly StepStats[],
): Promise<readonly StepStats[]> {
  if (!steps.some(({ skipped }) => skipped === 'non-finite')) return steps;
  const activation = await overflown(gpu, inOrder(acts, layers));
  return steps.map((step) => {
    if (step.skipped !== 'non-finite') return step;
    const found = /^(critic )?weight /.test(step.culprit) ? step.culprit : activation;
    return found ? { ...step, culprit: `${found} in f16` } : step;
  });
}

async function overflown(gpu: Gpu, tensors: Iterable<readonly [string, Tensor]>): Promise<string> {
  for (const [name, tensor] of tensors) {
    const [words] = await readOnce(gpu, [tensor]);
    const halves = new Uint16Array(words!.buffer, words!.byteOffset, 2 * words!.length);
    if (halves.some((half) => (half & EXPONENT) === EXPONENT)) return name;
  }
  return '';
}

function* inOrder({ xhat, qkv, attended, gateUp, act }: Activations, layers: number) {
  for (let layer = 0; layer < layers; layer++) {
    const named = (name: string, tensor: Tensor) => [`${name} of layer ${layer}`, tensor] as const;
    yield named('normed input', xhat.at(2 * layer));
    yield named('queries, keys or values', qkv.at(layer));
    yield named('attention', attended.at(layer));
    yield named('normed middle', xhat.at(2 * layer + 1));
    yield named('gates or ups', gateUp.at(layer));
    yield named('SwiGLU', act.at(layer));
  }
}
