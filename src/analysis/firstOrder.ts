import type { Parameter, Weights } from '../model/architecture.ts';
import type { NetworkState } from '../model/policy.ts';
import type { Why } from '../domain/readings.ts';
import type { Lesson } from '../rl/lesson.ts';
import { decayed, dot, flat, stepSizes } from './attribution.ts';

/** ⟨probe, Δθ⟩ of an update and what of it can be told apart without a gradient. */
export type Undivided = Pick<Why, 'momentum' | 'decay' | 'steps'> & { readonly together: number };

/**
 * ⟨probe, Δθ⟩ of an update from the network before and after it alone, no rollout run again. Of one optimizer step Adam's first moment and weight decay
 * are told apart, as `attribute` does; its gradients stay together. Of several steps all is together, for what Adam divided by in between is not kept.
 */
export function firstOrder(
  parameters: readonly Parameter[],
  { lesson, before, after }: { readonly lesson: Lesson; readonly before: NetworkState; readonly after: NetworkState },
  probe: Weights,
): Undivided {
  const direction = flat(parameters, probe);
  const [from, to] = [flat(parameters, before.weights), flat(parameters, after.weights)];
  const whole = dot(
    direction,
    to.map((each, i) => each - from[i]!),
  );
  const steps = after.steps - before.steps;
  const optimizer = lesson.steps.findLast((step) => !step.optimizer.criticOnly)?.optimizer;
  if (steps !== 1 || !optimizer) return { momentum: 0, decay: 0, steps, together: whole };
  const sizes = stepSizes(parameters, after, optimizer);
  const pulled = sizes.map((size, i) => size * direction[i]!);
  const momentum = -optimizer.beta1 * dot(pulled, flat(parameters, before.adamM));
  const decay = decayed(parameters, direction, before.weights, optimizer);
  return { momentum, decay, steps, together: whole - momentum - decay };
}
