import type { RunConfig } from './fields.ts';

/** Whether the environment's dice have a say in what comes of the same actions on the same task. */
export function throwsDice(c: Pick<RunConfig, 'env' | 'failureRate' | 'latency' | 'distractors' | 'slip'>): boolean {
  const { env } = c;
  if (env === 'bandit' || env === 'bandit-reversed') return true; // what an arm pays
  if (env === 'countdown') return false;
  const noise = env === 'number-hunt' || env === 'multi-hop' || env === 'world-facts' || env === 'your-facts';
  return c.failureRate > 0 || c.latency > 0 || (env === 'frozen-lake' && c.slip > 0) || (noise && c.distractors > 0);
}

/** What a comparison within a group says of actions under each setting of `luck`, in a sentence. */
export const LUCK_LESSONS: Readonly<Record<RunConfig['luck'], string>> = {
  own: 'Each rollout met its own luck, so a lucky one is credited for its luck too; over many it evens out.',
  group: 'All met the same luck, so they differ by their actions alone; what pays seldom looks bad to most groups.',
};
