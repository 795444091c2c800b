import type { RunConfig } from '../config/config.ts';
import { contradictions } from '../config/contradictions.ts';
import type { Remedy } from '../domain/health.ts';

/** What may lead out of an Echo Trap: changes that can be made while the run goes on, and that would change something. */
export function remediesFor(config: RunConfig): Remedy[] {
  const { learningRate, entropyCoef } = config;
  const remedies: Remedy[] = [
    {
      label: 'Reward entropy',
      changes: { entropyCoef: Math.min(1, Math.max(0.02, 2 * entropyCoef)) },
    },
    { label: 'Do not charge for calls', changes: { turnCost: 0 } },
    { label: 'Use each batch once', changes: { epochs: 1 } },
    { label: 'Halve the learning rate', changes: { learningRate: learningRate / 2 } },
    {
      label: 'StarPO-S: learn from the prompts that differ most',
      changes: {
        filter: 'top-fraction',
        filterShare: Math.max(0.25, 1 / config.prompts),
        clipHigh: 0.28,
        klCoef: 0,
        klRewardCoef: 0,
      },
    },
  ];
  return remedies.filter(({ changes }) => {
    const next = { ...config, ...changes };
    const same = Object.entries(changes).every(([name, value]) => config[name as keyof RunConfig] === value);
    return !same && contradictions(next).length === 0;
  });
}
