import { ALGORITHMS, type AlgorithmName } from '../config/algorithms.ts';
import { PRESETS } from '../config/presets.ts';
import type { Experiment, RunArm } from './experimentDefinition.ts';

const algorithmArm = (key: AlgorithmName, published: readonly [number, number]): RunArm => ({
  key,
  label: ALGORITHMS[key].label,
  group: 'Trained to search',
  set: ALGORITHMS[key].set,
  published,
  ...(key === REFERENCE ? {} : { comparedWith: REFERENCE }),
});
const REFERENCE = 'grpo';
// The shipped weights imitate an agent that calls its tool. An arm without the tool imitates a player that only reads,
// for as many steps.
const ragArm = (retriever: 'first' | 'question', label: string): RunArm => ({
  key: `rag-${retriever}`,
  label,
  group: 'Trained to read',
  set: { ...ALGORITHMS[REFERENCE].set, retriever, warmStart: 'train' },
  comparedWith: REFERENCE,
});

/**
 * Five algorithms with the same starting weights and tasks, compared with the untrained weights and with a single
 * retrieval in the prompt.
 */
export const algorithms: Experiment = {
  label: 'Algorithms',
  question:
    'Does an agent with a tool get better by RL? Is it better than an agent without the tool that is given one search result in its prompt? Which algorithm is best?',
  doc: 'The multi-hop preset, without its cost of a call, under five algorithms, each with its own published constants and nothing tuned. “Base tool call” is the warm start. “Naive RAG, not trained” is the warm start with the first fact in its prompt, asked to answer. Both numbers come from the first evaluation of the GRPO runs, because equal seeds have equal weights before update 1. “Naive RAG, trained” has its facts in the prompt in training too. It imitates and is reinforced for as long, but cannot look anything up. With one fact it can solve at most the share of one-hop questions. The three facts most like the question are what a retriever over words would find.',
  shared: {
    ...PRESETS['multi-hop'].set,
    // 0, because GRPO divides by the group's spread and would then learn from a turn cost not to call the tool
    // (docs/journal/learning.md)
    turnCost: 0,
    critic: 'separate', // in all arms, so that they begin with the same weights; only some algorithms use it
    updates: 60,
    evalEvery: 20,
    evalTasks: 256,
    evaluation: 'full',
  },
  arms: [
    {
      key: 'base',
      label: 'Base tool call',
      group: 'Not trained',
      borrowedFrom: REFERENCE,
      cells: {
        success: { metric: 'eval/success', take: 'first' },
        sampled: { metric: 'eval/success_sampled', take: 'first' },
        shifted: { metric: 'eval/success_shifted', take: 'first' },
      },
      published: [0.0847, 0.0277],
    },
    {
      key: 'naive-rag',
      label: 'Naive RAG',
      group: 'Not trained',
      borrowedFrom: REFERENCE,
      cells: { success: { metric: 'eval/naive_rag', take: 'first' } },
      published: [0.1328, 0.0277],
    },
    ragArm('first', 'Naive RAG, trained: the first fact'),
    ragArm('question', 'Naive RAG, trained: facts like the question'),
    algorithmArm('reinforce++', [0.33, 0.1336]),
    algorithmArm('reinforce++-baseline', [0.3619, 0.1485]),
    algorithmArm('rloo', [0.3716, 0.1419]),
    algorithmArm('ppo', [0.3719, 0.1552]),
    algorithmArm('grpo', [0.3877, 0.1485]),
  ],
  columns: [
    { key: 'success', label: 'In domain', measure: { metric: 'eval/success', take: 'last' } },
    { key: 'sampled', label: 'In domain, sampled', measure: { metric: 'eval/success_sampled', take: 'last' } },
    { key: 'shifted', label: 'Out of domain', measure: { metric: 'eval/success_shifted', take: 'last' } },
    { key: 'calls', label: 'Tool calls', measure: { metric: 'tool_call_counts/mean', take: 'last' }, digits: 2 },
  ],
  headline: 'success',
  published: {
    source: 'Agent-R1, Table 3 (arXiv 2511.14460)',
    model: 'Qwen2.5-3B-Instruct',
    task: 'HotpotQA, 2WikiMultihopQA and MuSiQue; exact match, one seed',
    columns: ['Mean of the three', 'MuSiQue, out of domain'],
  },
  defaultSeeds: 8,
  secondsPerUpdate: 0.3,
};
