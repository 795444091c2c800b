import type { Policy } from '../model/policy.ts';

const NAME = 'model.norm.weight'; // every output passes it

/** Makes one weight of a policy NaN, as a step that went wrong may: for tests and teachers. */
export async function injectNaN(policy: Policy): Promise<void> {
  const { policy: network, critic } = await policy.readState();
  const weight = Float32Array.from(network.weights.get(NAME) ?? []);
  weight[0] = NaN;
  policy.writeState({ policy: { ...network, weights: new Map([...network.weights, [NAME, weight]]) }, critic });
}
