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
  doc: 'Each preset is trained with its own settings. The rows: “RL” first copies the imperfect player, which makes mistakes on purpose, and then learns with RL. “Imitation alone” starts from random weights and only copies a scripted player on the training tasks: the expert, or the imperfect player. It gets as many optimizer steps as a whole run with RL; no RL follows, so its Before and After are the same number. The columns: Before and After are success before and after RL, when the agent always takes its likeliest words. For “After, words sampled” each word is drawn from its probabilities. For “One search result, before RL” the agent of before RL may not use the tool, and one search result stands in its prompt. Some presets start from weights that come with the page. Their runs with different seeds have the same starting weights, but other tasks, in another order, and other random numbers.',
  shared: { evalEvery: 20, evalTasks: 256 },
  arms: CLAIMED_PRESETS.flatMap(armsOfPreset),
  columns: [
    { key: 'before', label: 'Before', measure: { metric: 'eval/success', take: 'first' } },
    { key: 'after', label: 'After', measure: { metric: 'eval/success', take: 'last' } },
    { key: 'sampled', label: 'After, words sampled', measure: { metric: 'eval/success_sampled', take: 'last' } },
    { key: 'tasks', label: 'Evaluated tasks', measure: { metric: 'eval/tasks', take: 'first' }, digits: 0 },
    { key: 'rule', label: 'Simple rule', measure: { metric: 'baseline/rule', take: 'first' } },
    { key: 'rag', label: 'One search result, before RL', measure: { metric: 'eval/naive_rag', take: 'first' } },
    { key: 'chance', label: 'Chance', measure: { metric: 'baseline/random', take: 'first' } },
    { key: 'expert', label: 'Scripted expert', measure: { metric: 'baseline/expert', take: 'first' } },
  ],
  headline: 'after',
  defaultSeeds: 8,
  secondsPerUpdate: 0.3,
};
