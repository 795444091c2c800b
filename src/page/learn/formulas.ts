import { ALGORITHMS } from '../../config/algorithms.ts';
import { DEFAULTS, type RunConfig } from '../../config/fields.ts';
import { equation, KL_DELTA, KL_FORMULAS } from '../../config/formula.ts';

const GRPO: RunConfig = { ...DEFAULTS, ...ALGORITHMS.grpo.set };
const PPO: RunConfig = { ...DEFAULTS, ...ALGORITHMS.ppo.set };

/** Formulas of the chapters, written as beside the knobs. They are the same in every language. */
export const CHAPTER_FORMULAS = {
  advantage: [equation('score', GRPO), equation('advantage', GRPO)],
  critic: [equation('advantage', PPO), equation('whiten', PPO)],
  clip: [equation('ratio', GRPO), equation('policy', GRPO)],
  kl: [KL_DELTA, Object.entries(KL_FORMULAS).map(([k, of]) => `${k} = ${of}`).join(', '), equation('loss', GRPO)], // prettier-ignore
} as const satisfies Record<string, readonly string[]>;
