import { parameters, type Parameter } from './architecture.ts';
import { criticConfig, type NetworkState, type Policy, type PolicyState } from './policy.ts';

/** Needs each trained tensor and its moments; a separate critic iff the run has one. Throws RangeError with the tensor's name. */
export function checkState(policy: Pick<Policy, 'model' | 'parameters'>, critic: boolean, state: PolicyState): void {
  if (critic !== (state.critic !== null)) {
    throw new RangeError(
      `The saved state comes ${state.critic ? 'with' : 'without'} a separate critic; this run is the other way round.`,
    );
  }
  checkNetwork(policy.parameters, state.policy);
  if (state.critic) checkNetwork(parameters(criticConfig(policy.model)), state.critic);
}

function checkNetwork(tensors: readonly Parameter[], network: NetworkState): void {
  for (const tensorKind of ['weights', 'adamM', 'adamV'] as const) {
    for (const { name, size } of tensors) {
      const count = network[tensorKind].get(name)?.length;
      if (count !== size)
        throw new RangeError(
          `${tensorKind}, ${name}: there are ${count ?? 'no'} numbers, and the model needs ${size}.`,
        );
    }
  }
}
