import type { PresetName } from './presets.ts';

/** The shelves that presets stand on, in the order they are offered. */
export const PRESET_GROUPS = {
  tools: { label: 'Tools', doc: 'Call a tool, read its answer, act on it.' },
  search: { label: 'Search', doc: 'Look facts up, one leading to the next.' },
  games: { label: 'RAGEN’s games', doc: 'Walk, push, choose, count: no search.' },
  text: { label: 'Text', doc: 'The same tasks as chats, by a small language model that ships with the page.' },
  checkpoints: { label: 'Real checkpoints', doc: 'With a language model that you open, beside which adapters learn.' },
  failures: { label: 'Failures', doc: 'Runs that go wrong, to see how, and when one can tell.' },
  comparisons: { label: 'Comparisons', doc: 'One thing changed against a preset above.' },
} as const satisfies Readonly<Record<string, { readonly label: string; readonly doc: string }>>;
export type PresetGroup = keyof typeof PRESET_GROUPS;

/** Where a preset stands, and what is learned in it, in a line. */
export interface PresetChoice {
  readonly group: PresetGroup;
  readonly learns: string;
}

/** Every preset on its shelf. */
export const PRESET_CHOICE: Readonly<Record<PresetName, PresetChoice>> = {
  'number-hunt': { group: 'tools', learns: 'To heed “higher” and “lower” instead of guessing.' },
  calculator: { group: 'tools', learns: 'To feed the first result into the second call.' },
  'multi-hop': { group: 'search', learns: 'To search twice before it answers.' },
  'world-facts': { group: 'search', learns: 'To search twice, over countries and capitals.' },
  'your-facts': { group: 'search', learns: 'To search twice, over a file that you bring.' },
  'document-search': { group: 'search', learns: 'To find the passage that says it, and copy the answer.' },
  'frozen-lake': { group: 'games', learns: 'To walk around holes on slippery ice.' },
  sokoban: { group: 'games', learns: 'To get behind the box before it pushes.' },
  bandit: { group: 'games', learns: 'That the risky arm pays more on average.' },
  'bandit-reversed': { group: 'games', learns: 'That a name that sounds safe may not be.' },
  countdown: { group: 'games', learns: 'To make a number out of two others, in one go.' },
  'number-hunt-text': { group: 'text', learns: 'To heed the last answer, in words and JSON.' },
  'calculator-text': { group: 'text', learns: 'To copy the right number into the next call.' },
  'search-text': { group: 'text', learns: 'To look up twice, in words and JSON.' },
  'smollm2-calculator': { group: 'checkpoints', learns: 'To call a calculator instead of answering in prose.' },
  'smollm2-hunt': { group: 'checkpoints', learns: 'To heed “higher” and “lower”.' },
  'smollm2-search': { group: 'checkpoints', learns: 'To look up before it answers.' },
  'break-it': { group: 'failures', learns: 'One path for every map: then nothing more.' },
  'rlhf-hack': { group: 'failures', learns: 'To please the reward model, and solve less.' },
  'noisy-hunt': { group: 'failures', learns: 'The hunt, while the tool’s noise is not graded. Switch the masks off.' },
  'number-hunt-ppo': { group: 'comparisons', learns: 'The hunt, with a critic: credit token by token.' },
  'multi-hop-grpo': { group: 'comparisons', learns: 'The search, without a critic: one score a rollout.' },
  'break-it-ppo': { group: 'comparisons', learns: 'The walk that breaks, with a critic.' },
  'starpo-s': { group: 'comparisons', learns: 'The walk that breaks, with StarPO-S’s filter and clip.' },
  'grpo-s': { group: 'comparisons', learns: 'The walk that breaks, filtered, without a critic.' },
  rlhf: { group: 'comparisons', learns: 'What a labeller likes, held near its start by a KL.' },
};
