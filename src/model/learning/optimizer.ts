import type { OptimizerSettings } from '../learningSettings.ts';
import type { TrainedTensors } from './trainedTensors.ts';
import type { Real } from './real.ts';

/** Added to the norm before the division by it (as in PyTorch's `clip_grad_norm_`). */
const CLIP_EPS = 1e-6;

/** Returns the Euclidean norm of a pool, summed in float64. */
export function norm(pool: Real): number {
  let squares = 0;
  const { length } = pool;
  for (let i = 0; i < length; i++) squares += pool[i]! * pool[i]!;
  return Math.sqrt(squares);
}

/** Returns the factor that scales a gradient of the given norm down to `maxGradNorm`, or 1 if the norm is smaller. */
export function clipScale(gradNorm: number, maxGradNorm: number): number {
  return Math.min(1, maxGradNorm / (gradNorm + CLIP_EPS));
}

/**
 * Takes one AdamW step (Loshchilov & Hutter 2019) with the network's gradients, which stay unchanged. g is scaled by
 * min(1, maxGradNorm/(‖g‖ + 1e-6)). Then m = β₁m + (1−β₁)g, v = β₂v + (1−β₂)g² and
 * w ← w·(1 − lr·decay) − lr·m̂/(√v̂ + eps), with bias correction. Only tensors of two or more dimensions decay.
 */
export function adamW(
  network: TrainedTensors,
  gradNorm: number,
  learningRate: number,
  settings: Pick<OptimizerSettings, 'beta1' | 'beta2' | 'eps' | 'weightDecay' | 'maxGradNorm'>,
): void {
  const { weights, gradients, adamM, adamV, decayedSize, size } = network;
  const { beta1, beta2, eps } = settings;
  network.steps++;
  const scale = clipScale(gradNorm, settings.maxGradNorm);
  const correction1 = 1 / (1 - beta1 ** network.steps);
  const correction2 = 1 / (1 - beta2 ** network.steps);
  const decayFactor = 1 - learningRate * settings.weightDecay;
  for (let i = 0; i < size; i++) {
    const g = gradients[i]! * scale;
    const m = beta1 * adamM[i]! + (1 - beta1) * g;
    const v = beta2 * adamV[i]! + (1 - beta2) * g * g;
    adamM[i] = m;
    adamV[i] = v;
    const w = weights[i]! * (i < decayedSize ? decayFactor : 1);
    weights[i] = w - (learningRate * m * correction1) / (Math.sqrt(v * correction2) + eps);
  }
}
