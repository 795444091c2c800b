import type { OptimizerSettings } from '../learningSettings.ts';
import type { Learned } from './network.ts';
import type { Real } from './real.ts';

/** Added to the norm before dividing by it (PyTorch `clip_grad_norm_`). */
const CLIP_EPS = 1e-6;

/** Euclidean norm of a pool, summed in float64. */
export function norm(pool: Real): number {
  let squares = 0;
  const { length } = pool;
  for (let i = 0; i < length; i++) squares += pool[i]! * pool[i]!;
  return Math.sqrt(squares);
}

/** What a gradient of the given norm is multiplied by, so that it is no longer than `maxGradNorm`. */
export function clipScale(gradNorm: number, maxGradNorm: number): number {
  return Math.min(1, maxGradNorm / (gradNorm + CLIP_EPS));
}

/**
 * One AdamW step (Loshchilov & Hutter 2019) on the network's gradients, which it leaves as they were: g scaled by
 * min(1, maxGradNorm/(‖g‖ + 1e-6)); m = β₁m + (1−β₁)g, v = β₂v + (1−β₂)g²; w ← w·(1 − lr·decay) − lr·m̂/(√v̂ + eps) with bias
 * correction, the decay on tensors of two or more dimensions only.
 */
export function adamW(
  network: Learned,
  gradNorm: number,
  learningRate: number,
  settings: Pick<OptimizerSettings, 'beta1' | 'beta2' | 'eps' | 'weightDecay' | 'maxGradNorm'>,
): void {
  const { weights, gradients, adamM, adamV, decayed, size } = network;
  const { beta1, beta2, eps } = settings;
  network.steps++;
  const scale = clipScale(gradNorm, settings.maxGradNorm);
  const correction1 = 1 / (1 - beta1 ** network.steps);
  const correction2 = 1 / (1 - beta2 ** network.steps);
  const keep = 1 - learningRate * settings.weightDecay;
  for (let i = 0; i < size; i++) {
    const g = gradients[i]! * scale;
    const m = beta1 * adamM[i]! + (1 - beta1) * g;
    const v = beta2 * adamV[i]! + (1 - beta2) * g * g;
    adamM[i] = m;
    adamV[i] = v;
    const w = weights[i]! * (i < decayed ? keep : 1);
    weights[i] = w - (learningRate * m * correction1) / (Math.sqrt(v * correction2) + eps);
  }
}
