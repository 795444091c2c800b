import type { RunConfig } from './config.ts';

interface Preset {
  readonly label: string;
  readonly doc: string;
  readonly set: Partial<RunConfig>;
}

/** Named points in configuration space. An algorithm is a setting, not a class. */
export const PRESETS = {
  'number-hunt': {
    label: 'Number hunt · GRPO',
    doc: 'Find a hidden number with a compare tool, in four calls. The quickest thing to watch.',
    set: { entropyCoef: 0.02, processReward: 0.5, updates: 160 },
  },
  'multi-hop': {
    label: 'Multi-hop search · PPO',
    doc: 'Answer “r2 of r1 of e” over a random graph by searching twice. A critic gives each token its credit.',
    set: {
      env: 'multi-hop',
      maxTurns: 4,
      processReward: 0.2,
      turnCost: 0.05,
      entropyCoef: 0.01,
      estimator: 'gae',
      critic: 'separate',
      learningRate: 1e-3,
      criticLearningRate: 1e-3,
      updates: 80,
    },
  },
  'number-hunt-ppo': {
    label: 'Number hunt · PPO',
    doc: 'The same hunt with a value head on the policy’s trunk and token-level credit.',
    set: { entropyCoef: 0.02, processReward: 0.5, updates: 160, estimator: 'gae', critic: 'shared', lambda: 0.95 },
  },
  'multi-hop-grpo': {
    label: 'Multi-hop search · GRPO',
    doc: 'The same search without a critic: one score for a whole rollout, compared within its group.',
    set: {
      env: 'multi-hop',
      maxTurns: 4,
      processReward: 0.5,
      entropyCoef: 0.01,
      learningRate: 1e-3,
      updates: 120,
    },
  },
} as const satisfies Record<string, Preset>;

export type PresetName = keyof typeof PRESETS;
