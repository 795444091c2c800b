import type { Estimator } from '../../src/config/estimators.ts';
import type { Policy, PolicySpec } from '../../src/model/policy.ts';
import { CREDIT, masks, OBJECTIVE, OPTIMIZER, roughWeights, someGrammar, someRecord, someRewards } from './policies.ts';

const TEMPERATURE = 0.7;

/** Scores, credit and three optimizer steps of one batch, by any backend; `on` sets all six masks. */
export async function scoreAndLearn(policy: Policy, spec: PolicySpec, estimator: Estimator, on: boolean) {
  const weights = roughWeights(spec.model, 3);
  const grammar = someGrammar(spec.model.vocab_size);
  const record = someRecord(spec, grammar);
  policy.writeWeights(weights);
  policy.freezeReference();
  policy.setGrammar(grammar);
  policy.load(record);
  await policy.score(TEMPERATURE, { reference: true, values: true });
  const groups = Int32Array.from({ length: spec.rows }, (_, b) => b % 2);
  const settings = { ...CREDIT, estimator, masks: masks(on) };
  const bodies = record.roles.map((_, at) => (at % 3 === 0 ? 0 : 1));
  policy.credit({ rewards: someRewards(record), groups, bodies }, settings);
  const scored = await policy.report();
  const rows = Int32Array.from({ length: spec.minibatchRows }, (_, i) => (i * 3) % spec.rows);
  for (let step = 0; step < 3; step++) {
    if (step > 0) policy.endEpoch();
    await policy.learn(rows, { ...OBJECTIVE, observationLoss: 0.3 }, OPTIMIZER, TEMPERATURE);
  }
  const learned = await policy.report();
  const state = await policy.readState();
  const change = [...state.policy.weights].map(
    ([name, after]) => [name, after.map((w, i) => w - (weights.get(name)?.[i] ?? 0))] as const,
  );
  const critic = [...(state.critic?.weights ?? [])].filter(([name]) => name.startsWith('value_head'));
  return { scored, learned, change, critic };
}
