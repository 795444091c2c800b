import { parameters, type Parameter } from './architecture.ts';
import { criticConfig, type NetworkState, type Policy, type PolicyState } from './policy.ts';

/** Throws RangeError, naming the tensor, unless `state` has every tensor that the policy learns, moments too, and a critic where there is one. */
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
  for (const pool of ['weights', 'adamM', 'adamV'] as const) {
    for (const { name, size } of tensors) {
      const found = network[pool].get(name)?.length;
      if (found !== size)
        throw new RangeError(`${pool}, ${name}: there are ${found ?? 'no'} numbers, and the model needs ${size}.`);
    }
  }
}
