import type { PresetName } from './presets.ts';

/** The shelves that presets stand on, in the order they are offered. */
export const PRESET_GROUPS = {
  tools: { label: 'Tools', doc: 'Call a tool, read the observation, act on it.' },
  search: { label: 'Search', doc: 'Look up facts, one after another.' },
  games: { label: 'RAGEN’s games', doc: 'Walk, push, choose, count: no search.' },
  text: { label: 'Text', doc: 'The same tasks as chats, with a small language model included in the page.' },
  checkpoints: { label: 'Real checkpoints', doc: 'Train LoRA adapters for a language model that you open.' },
  failures: { label: 'Failures', doc: 'Runs that go wrong, and the signs to look for.' },
  comparisons: { label: 'Comparisons', doc: 'A preset from above with one change.' },
} as const satisfies Readonly<Record<string, { readonly label: string; readonly doc: string }>>;
export type PresetGroup = keyof typeof PRESET_GROUPS;

/** Where a preset stands, and what is learned in it, in a line. */
export interface PresetChoice {
  readonly group: PresetGroup;
  readonly learns: string;
}

/** Every preset on its shelf. */
export const PRESET_CHOICE: Readonly<Record<PresetName, PresetChoice>> = {
  'number-hunt': { group: 'tools', learns: 'Learns to use “higher” and “lower” instead of guessing.' },
  calculator: { group: 'tools', learns: 'Learns to use the first result in the second call.' },
  'multi-hop': { group: 'search', learns: 'Learns to search twice before it answers.' },
  'world-facts': { group: 'search', learns: 'Learns to search twice, over countries and capitals.' },
  'your-facts': { group: 'search', learns: 'Learns to search twice, in your own file.' },
  'document-search': { group: 'search', learns: 'Learns to find the right passage and copy the answer.' },
  'frozen-lake': { group: 'games', learns: 'Learns to walk around holes on slippery ice.' },
  sokoban: { group: 'games', learns: 'Learns to get behind the box before it pushes.' },
  bandit: { group: 'games', learns: 'Learns that the risky arm pays more on average.' },
  'bandit-reversed': { group: 'games', learns: 'Learns that a safe-sounding name can be risky.' },
  countdown: { group: 'games', learns: 'Learns to make a number from two others in one turn.' },
  'number-hunt-text': { group: 'text', learns: 'Learns to use the last observation, in text and JSON.' },
  'calculator-text': { group: 'text', learns: 'Learns to copy the right number into the next call.' },
  'search-text': { group: 'text', learns: 'Learns to look up twice, in text and JSON.' },
  'smollm2-calculator': { group: 'checkpoints', learns: 'Learns to call a calculator instead of answering in prose.' },
  'smollm2-hunt': { group: 'checkpoints', learns: 'Learns to use “higher” and “lower”.' },
  'smollm2-search': { group: 'checkpoints', learns: 'Learns to look up before it answers.' },
  'break-it': { group: 'failures', learns: 'All rollouts take one path; learning stops.' },
  'rlhf-hack': { group: 'failures', learns: 'Learns to please the reward model and solves less.' },
  'noisy-hunt': { group: 'failures', learns: 'Number hunt with a noisy tool. Switch the masks off to see the damage.' },
  'number-hunt-ppo': { group: 'comparisons', learns: 'Number hunt with a critic: credit token by token.' },
  'multi-hop-grpo': { group: 'comparisons', learns: 'Multi-hop search without a critic: one score per rollout.' },
  'break-it-ppo': { group: 'comparisons', learns: '“Break it” with a critic.' },
  'starpo-s': { group: 'comparisons', learns: '“Break it” with StarPO-S’s critic, filter and clip.' },
  'grpo-s': { group: 'comparisons', learns: '“Break it” with StarPO-S’s filter and clip, without a critic.' },
  rlhf: { group: 'comparisons', learns: 'Learns what a labeller likes. A KL penalty keeps it near the start.' },
};
