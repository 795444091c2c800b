import { YOUR_ENVIRONMENT } from './environments.ts';
import type { PresetName, RunPreset } from './presets.ts';

/** The groups of presets, in the order in which they are offered. */
export const PRESET_GROUPS = {
  tools: { label: 'Tools', doc: 'Call a tool, read the observation, act on it.' },
  search: { label: 'Search', doc: 'Look up facts, one after another.' },
  games: { label: 'Games', doc: 'Walk, push, choose, count: the games of RAGEN, a paper on RL for agents.' },
  text: { label: 'Text', doc: 'The same tasks as chats, with a small language model included in the page.' },
  checkpoints: {
    label: 'Real checkpoints',
    doc: 'Open a language model and train a LoRA adapter, a small set of added weights.',
  },
  failures: { label: 'Failures', doc: 'Runs that go wrong, and the signs to look for.' },
  comparisons: { label: 'Comparisons', doc: 'A preset from above with one change.' },
} as const satisfies Readonly<Record<string, { readonly label: string; readonly doc: string }>>;
export type PresetGroup = keyof typeof PRESET_GROUPS;

/** The measured result of a preset: success on its evaluated tasks, greedy, on the CPU backend. */
export interface PresetResult {
  readonly before: number; // success before training, mean over seeds
  readonly after: number; // success after training, mean over seeds
  /** 95 % interval of `after` over seeds (Student's t), perhaps beyond 0 and 1. Null: too few seeds, or all had the same result. */
  readonly low: number | null;
  readonly high: number | null;
  readonly seeds: number;
  readonly seconds: number; // median duration of a run, on two cores of a server
  readonly curve?: readonly number[]; // success at evaluations with equal distances, mean over seeds
  /** Source: an experiment's shipped runs, or the journal (docs/journal/archive/2026-11-learning.md). */
  readonly source: 'learning' | 'echo-trap' | 'preferences' | 'journal';
}

interface PresetCard {
  readonly group: PresetGroup;
  readonly learns: string; // what the agent learns, in one line
  readonly doc: string; // what the preset shows, in a few sentences
  /** Absent: not measured. Results of experiments are computed from `public/experiments`; a test repeats this. */
  readonly result?: PresetResult;
}

/** The cards of all presets. They are separate from the presets, because the page needs the presets earlier. */
export const PRESET_CARDS: Readonly<Record<PresetName, PresetCard>> = {
  'number-hunt': {
    group: 'tools',
    learns: 'Learns to use “higher” and “lower” instead of guessing.',
    doc: 'Find a hidden number with a compare tool in four calls. The quickest run to watch.',
    result: {
      ...{ source: 'learning', before: 0.313, after: 0.836, low: 0.797, high: 0.875, seeds: 8, seconds: 16 },
      curve: [0.31, 0.42, 0.55, 0.62, 0.76, 0.8, 0.84, 0.84, 0.84],
    },
  },
  'multi-hop': {
    group: 'search',
    learns: 'Learns to search twice before it answers.',
    doc: 'Answer “r2 of r1 of e” over a random graph by searching twice. A critic gives each token its credit.',
    result: {
      ...{ source: 'learning', before: 0.181, after: 0.981, low: 0.95, high: 1.013, seeds: 8, seconds: 19 },
      curve: [0.18, 0.35, 0.77, 0.92, 0.98],
    },
  },
  'world-facts': {
    group: 'search',
    learns: 'Learns to search twice, over countries and capitals.',
    doc: 'Multi-hop questions about real countries. In each task a country gets a new name, so nothing can be learned by heart. Evaluation asks questions, countries and lengths that training never had.',
    result: {
      ...{ source: 'learning', before: 0.146, after: 0.92, low: 0.865, high: 0.975, seeds: 8, seconds: 21 },
      curve: [0.15, 0.74, 0.88, 0.92, 0.92],
    },
  },
  'your-facts': {
    group: 'search',
    learns: 'Learns to search twice, in your own file.',
    doc: 'Multi-hop questions over your own CSV file (subject, relation, object). It stays on this machine.',
  },
  'frozen-lake': {
    group: 'games',
    learns: 'Learns to walk around holes on slippery ice.',
    doc: 'Walk over a random lake to the goal, from random weights. One move in five slips to the side, so even the best player solves only 86 %.',
    result: {
      ...{ source: 'learning', before: 0.164, after: 0.702, low: 0.684, high: 0.719, seeds: 8, seconds: 17 },
      curve: [0.16, 0.65, 0.68, 0.7],
    },
  },
  sokoban: {
    group: 'games',
    learns: 'Learns to get behind the box before it pushes.',
    doc: 'Push one box onto its target, from random weights. The room is six by six cells with its walls. Each move costs 0.01 of reward.',
    result: {
      ...{ source: 'learning', before: 0.108, after: 0.788, low: 0.748, high: 0.827, seeds: 8, seconds: 86 },
      curve: [0.11, 0.3, 0.37, 0.45, 0.48, 0.54, 0.61, 0.66, 0.7, 0.7, 0.73, 0.74, 0.79],
    },
  },
  bandit: {
    group: 'games',
    learns: 'Learns which of two slot machines pays more on average.',
    doc: 'Choose between a safe arm, which pays 0.1, and a risky arm, which pays 1 in a quarter of the cases, from random weights. Switch “Divide by std” on and the agent settles for the safe arm. The risky arm mostly pays nothing, and dividing by the std makes that small loss count as much as the rare win.',
    result: {
      ...{ source: 'learning', before: 0.172, after: 1, low: null, high: null, seeds: 8, seconds: 3 },
      curve: [0.17, 1, 1, 1],
    },
  },
  'bandit-reversed': {
    group: 'games',
    learns: 'The same two machines, names swapped: the safe-sounding one is risky.',
    doc: 'The same names with swapped payoffs: the risky arm is the one that sounds safe.',
    result: {
      ...{ source: 'learning', before: 0.188, after: 1, low: null, high: null, seeds: 8, seconds: 3 },
      curve: [0.19, 1, 1, 1],
    },
  },
  calculator: {
    group: 'tools',
    learns: 'Learns to use the result of its first calculation in the second.',
    doc: 'Work out two operations on numbers of two digits, with one call of the calculator for each. After the warm start the agent can call it, but mostly answers with the first result.',
    result: {
      ...{ source: 'learning', before: 0.048, after: 0.987, low: 0.976, high: 0.997, seeds: 8, seconds: 15 },
      curve: [0.05, 0.98, 0.99, 0.99],
    },
  },
  countdown: {
    group: 'games',
    learns: 'Learns to reach a number with +, − or × of two others.',
    doc: 'Make a target out of two numbers in one turn. The right numbers with the wrong result earn a tenth of the reward.',
    result: {
      ...{ source: 'learning', before: 0.333, after: 0.363, low: 0.284, high: 0.443, seeds: 8, seconds: 5 },
      curve: [0.33, 0.32, 0.34, 0.38, 0.36],
    },
  },
  'document-search': {
    group: 'search',
    learns: 'Learns to find the right passage and copy the answer.',
    doc: 'Answer questions over real sentences with a BM25 index: find one passage or two, and copy the answer.',
    result: {
      ...{ source: 'learning', before: 0.365, after: 0.7, low: 0.675, high: 0.725, seeds: 8, seconds: 143 },
      curve: [0.37, 0.44, 0.51, 0.58, 0.62, 0.64, 0.67, 0.69, 0.7],
    },
  },
  'number-hunt-text': {
    group: 'text',
    learns: 'Learns to act on the tool’s last answer. It writes text and JSON.',
    doc: 'Number hunt for a language model, as a chat with the tool in JSON. The tokenizer has 1,024 tokens, made from bytes. Training starts from the small text model included in the page. That model ignores the last observation as often as the player it imitated. Each guess is rewarded for the numbers it rules out.',
    // processor time of sixty updates, including evaluations. It was measured when episodes were still limited to fewer
    // tokens than all turns need
    result: { source: 'journal', before: 0.188, after: 0.417, low: 0.327, high: 0.506, seeds: 3, seconds: 205 },
  },
  'calculator-text': {
    group: 'text',
    learns: 'Learns to copy the right number into the next call.',
    doc: 'The calculator chain in a chat: the same text model, which calls the tool in JSON but often answers too early or copies the wrong number.',
    result: { source: 'journal', before: 0.27, after: 0.94, low: 0.89, high: 1, seeds: 3, seconds: 301 },
  },
  'search-text': {
    group: 'text',
    learns: 'Learns to look up twice. It writes text and JSON.',
    doc: 'Multi-hop search in a chat: the same text model looks facts up in JSON and answers with a name.',
    // the three seeds weren't used for tuning; their results are .89, .81, .46
    result: { source: 'journal', before: 0.336, after: 0.721, low: 0.16, high: 1.283, seeds: 3, seconds: 225 },
  },
  'smollm2-calculator': {
    group: 'checkpoints',
    learns: 'Learns to call a calculator instead of answering in prose.',
    doc: 'The calculator chain with a language model that you open, such as SmolLM2-135M-Instruct: LoRA adapters learn first from demonstrations (warm start), then from reward.',
    // results after imitation and RL: .93, .98 and .40, on 200 tasks each. The model as published solved none
    result: { source: 'journal', before: 0, after: 0.768, low: -0.026, high: 1.563, seeds: 3, seconds: 3613 },
  },
  'smollm2-hunt': {
    group: 'checkpoints',
    learns: 'Learns to use “higher” and “lower”.',
    doc: 'The number hunt with a language model that you open, and adapters.',
  },
  'smollm2-search': {
    group: 'checkpoints',
    learns: 'Learns to look up before it answers.',
    doc: 'Looking one fact up and answering, with a language model that you open, and adapters.',
    // seeds 1, 2, 3 on 200 tasks each, seed 7 on 32: .25, .10, .32 and .25 after imitation, .56, .28, .76 and .31 after
    // RL. `seconds` is the processor time on one core, from seeds 1 to 3
    result: { source: 'journal', before: 0.228, after: 0.476, low: 0.115, high: 0.836, seeds: 4, seconds: 2488 },
  },
  'number-hunt-ppo': {
    group: 'comparisons',
    learns: 'Number hunt with a critic, a second network that judges each token.',
    doc: 'Number hunt with PPO: a value head on the policy’s network gives each token its credit.',
    result: { source: 'journal', before: 0.31, after: 0.88, low: null, high: null, seeds: 3, seconds: 17 },
  },
  'multi-hop-grpo': {
    group: 'comparisons',
    learns: 'Multi-hop search without a critic: one score per rollout.',
    doc: 'Multi-hop search without a critic. Each rollout gets one score, compared with the others of its group.',
    result: { source: 'journal', before: 0.18, after: 0.48, low: 0.41, high: 0.54, seeds: 3, seconds: 31 },
  },
  'break-it': {
    group: 'failures',
    learns: 'All rollouts take one path, so learning stops early.',
    doc: 'Few prompts, many epochs on each batch, no entropy bonus. Success rises until every rollout takes the same path, whatever the map says. Then there is nothing left to compare, and learning stops.',
    result: {
      ...{ source: 'echo-trap', before: 0.014, after: 0.231, low: 0.161, high: 0.301, seeds: 8, seconds: 16 },
      curve: [0.01, 0.22, 0.26, 0.26, 0.25, 0.27, 0.23],
    },
  },
  'break-it-ppo': {
    group: 'comparisons',
    learns: 'FrozenLake, made to fail (“Break it”), with a critic.',
    doc: 'The run that breaks (“Break it”), with RAGEN’s StarPO: PPO, whose separate critic replaces the group mean.',
    result: {
      ...{ source: 'echo-trap', before: 0.014, after: 0.328, low: 0.29, high: 0.365, seeds: 8, seconds: 29 },
      curve: [0.01, 0.24, 0.29, 0.31, 0.3, 0.3, 0.33],
    },
  },
  'starpo-s': {
    group: 'comparisons',
    learns: '“Break it” with a critic, without groups whose rollouts all score alike.',
    doc: 'The run that breaks (“Break it”), with RAGEN’s StarPO-S: PPO with a critic, the upper clip at 0.28 and no KL. It rolls out four times as many prompts and trains on the quarter whose rollouts differ most, so the optimizer takes as many steps of the same size.',
    result: {
      ...{ source: 'echo-trap', before: 0.014, after: 0.404, low: 0.333, high: 0.475, seeds: 8, seconds: 44 },
      curve: [0.01, 0.33, 0.37, 0.39, 0.39, 0.42, 0.4],
    },
  },
  'grpo-s': {
    group: 'comparisons',
    learns: '“Break it”, no critic, without groups whose rollouts all score alike.',
    doc: 'The run that breaks (“Break it”), with GRPO and the filter and clip of StarPO-S. It rolls out four times as many prompts and trains on the quarter whose rollouts differ most.',
    result: {
      ...{ source: 'echo-trap', before: 0.014, after: 0.289, low: 0.192, high: 0.385, seeds: 8, seconds: 28 },
      curve: [0.01, 0.29, 0.32, 0.3, 0.33, 0.3, 0.29],
    },
  },
  rlhf: {
    group: 'comparisons',
    learns: 'Learns to please a learned judge, and still solves as many tasks.',
    doc: 'No reward from the environment, only from a reward model trained on a labeller who likes effort. A KL penalty keeps the policy near the initial weights, so near rollouts the reward model knows.',
    result: {
      ...{ source: 'preferences', before: 0.181, after: 0.185, low: 0.159, high: 0.21, seeds: 8, seconds: 143 },
      curve: [0.18, 0.19, 0.19, 0.18],
    },
  },
  'rlhf-hack': {
    group: 'failures',
    learns: 'Learns to please a learned judge, and solves fewer tasks.',
    doc: 'The reward comes only from a learned reward model, and there is no KL penalty. The reward model’s score goes up, the agent searches as often as it can, and it solves fewer tasks than at the start.',
    result: {
      ...{ source: 'preferences', before: 0.181, after: 0.086, low: 0.074, high: 0.098, seeds: 8, seconds: 149 },
      curve: [0.18, 0.08, 0.09, 0.09],
    },
  },
  'noisy-hunt': {
    group: 'failures',
    learns: 'The tool adds random words. With both masks on, the agent learns anyway.',
    doc: 'The tool wraps its word in six random ones. Switch both masks off to see how training on observations hurts.',
    // docs/journal/archive/2026-11-learning.md has each seed's result, for this and all other results from the journal
    result: { source: 'journal', before: 0.25, after: 0.765, low: 0.73, high: 0.8, seeds: 8, seconds: 37 },
  },
};

/** What a preset shows, in a sentence or two. */
export function presetDoc(name: RunPreset): string {
  return name === YOUR_ENVIRONMENT
    ? 'Your own environment, or one that somebody sent you: a class in a file, which runs in a sandbox, or a server on this machine.'
    : PRESET_CARDS[name].doc;
}
