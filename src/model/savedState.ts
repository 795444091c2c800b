import { parameters, type ModelConfig } from './architecture.ts';
import { criticConfig, type NetworkState, type PolicyState } from './policy.ts';

/** Throws RangeError, naming the tensor, unless `state` has every parameter of the model, moments too, and a critic where there is one. */
export function checkState(model: ModelConfig, critic: boolean, state: PolicyState): void {
  if (critic !== (state.critic !== null)) {
    throw new RangeError(`got a state ${state.critic ? 'with' : 'without'} a separate critic; want the other.`);
  }
  checkNetwork(model, state.policy);
  if (state.critic) checkNetwork(criticConfig(model), state.critic);
}

function checkNetwork(model: ModelConfig, network: NetworkState): void {
  for (const pool of ['weights', 'adamM', 'adamV'] as const) {
    for (const { name, size } of parameters(model)) {
      const found = network[pool].get(name)?.length;
      if (found !== size) throw new RangeError(`${pool}, ${name}: got ${found ?? 'no'} numbers; want ${size}.`);
    }
  }
}
