import { DEFAULTS, type RunConfig } from '../config/fields.ts';
import { totalOptimizerSteps } from '../config/imitationRecipe.ts';
import { PRESETS, type PresetName } from '../config/presets.ts';
import type { Arm, Experiment } from './experimentDefinition.ts';

/** The presets for which the docs or the page claim that the agent learns. */
const CLAIMED_PRESETS = [
  'number-hunt',
  'multi-hop',
  'world-facts',
  'document-search',
  'calculator',
  'countdown',
  'frozen-lake',
  'sokoban',
  'bandit',
  'bandit-reversed',
] as const satisfies readonly PresetName[];

/**
 * The arms of one preset: RL, and for comparison imitation of the same player or of the expert, with as many optimizer
 * steps.
 */
function armsOfPreset(name: (typeof CLAIMED_PRESETS)[number]): readonly Arm[] {
  const { label, set }: { readonly label: string; readonly set: Partial<RunConfig> } = PRESETS[name];
  const group = label;
  // a run has at least one update; its learning rates are 0, so that nothing is learned in it
  const imitation = { ...set, warmStart: 'train', imitationSteps: totalOptimizerSteps({ ...DEFAULTS, ...set }), updates: 1, learningRate: 0, criticLearningRate: 0 } as const; // prettier-ignore
  return [
    { key: name, label: 'RL', group, set, comparedWith: `${name}-imitation` },
    { key: `${name}-imitation`, label: 'Imitation alone: imperfect player', group, set: imitation },
    { key: `${name}-expert`, label: 'Imitation alone: expert', group, set: { ...imitation, demonstrator: 'expert' } },
  ];
}

/** Measures how much every preset learns, compared with cheaper methods. */
export const learning: Experiment = {
  label: 'What it learns',
  question: 'How much does each preset learn, and would imitation, a simple rule or chance have done as well?',
  doc: 'Each preset is trained with its own settings. “RL” first copies the imperfect player, which makes mistakes on purpose, then learns with RL. “Imitation alone” only copies a player, for as many optimizer steps as a whole run with RL. Before and After are success before and after RL, always with the likeliest word; in “words sampled” each word is drawn. “Before, with a search result” gets one search result in the prompt and no tool. Shipped starting weights are the same for every seed; tasks, their order and random draws differ.',
  shared: { evalEvery: 20, evalTasks: 256 },
  arms: CLAIMED_PRESETS.flatMap(armsOfPreset),
  columns: [
    { key: 'before', label: 'Before', measure: { metric: 'eval/success', take: 'first' } },
    { key: 'after', label: 'After', measure: { metric: 'eval/success', take: 'last' } },
    { key: 'sampled', label: 'After, words sampled', measure: { metric: 'eval/success_sampled', take: 'last' } },
    { key: 'tasks', label: 'Evaluated tasks', measure: { metric: 'eval/tasks', take: 'first' }, digits: 0 },
    { key: 'rule', label: 'Simple rule', measure: { metric: 'baseline/rule', take: 'first' } },
    { key: 'rag', label: 'Before, with a search result', measure: { metric: 'eval/naive_rag', take: 'first' } },
    { key: 'chance', label: 'Chance', measure: { metric: 'baseline/random', take: 'first' } },
    { key: 'expert', label: 'Scripted expert', measure: { metric: 'baseline/expert', take: 'first' } },
  ],
  headline: 'after',
  defaultSeeds: 8,
  secondsPerUpdate: 0.3,
};
