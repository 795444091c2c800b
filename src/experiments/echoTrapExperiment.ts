import { PRESETS } from '../config/presets.ts';
import type { Experiment } from './experimentDefinition.ts';

/** A preset that collapses, the same settings with StarPO-S, and a healthy run to compare with. */
export const echoTrap: Experiment = {
  label: 'Echo Trap',
  question:
    'In FrozenLake, when does the agent take the same path on every map? Does the lab warn of it, and does the method StarPO-S prevent it?',
  doc: 'The preset “Break it” with GRPO, and with PPO and a critic (RAGEN’s StarPO). Both run with and without the filter and the clip of StarPO-S. A filtered run takes as many steps of the same size, but plays four times as many rollouts. A column counts them.',
  shared: { updates: 60, evalEvery: 10, evalTasks: 256 },
  arms: [
    { key: 'break-it', label: 'GRPO: break it', set: PRESETS['break-it'].set },
    { key: 'grpo-s', label: 'GRPO, filtered', set: PRESETS['grpo-s'].set, comparedWith: 'break-it' },
    { key: 'break-it-ppo', label: 'PPO: StarPO', set: PRESETS['break-it-ppo'].set },
    { key: 'starpo-s', label: 'PPO, filtered: StarPO-S', set: PRESETS['starpo-s'].set, comparedWith: 'break-it-ppo' },
    { key: 'default', label: 'Default', set: PRESETS['number-hunt'].set },
  ],
  columns: [
    { key: 'first', label: 'Solved, first', measure: { metric: 'eval/success', take: 'first' } },
    { key: 'best', label: 'Solved, best', measure: { metric: 'eval/success', take: 'best' } },
    { key: 'last', label: 'Solved, last', measure: { metric: 'eval/success', take: 'last' } },
    { key: 'trap', label: 'Monitor said TRAP at update', measure: 'trap', digits: 0, emptyText: 'never' },
    { key: 'spread', label: 'Reward spread, last', measure: { metric: 'rollout/in_group_reward_std', take: 'last' } },
    { key: 'entropy', label: 'Entropy, last', measure: { metric: 'actor/entropy', take: 'last' } },
    { key: 'rollouts', label: 'Rollouts played', measure: 'rollouts', digits: 0 },
  ],
  headline: 'last',
  defaultSeeds: 8,
  secondsPerUpdate: 0.3,
};
