import type { BatchView } from '../domain/batch.ts';
import type { NetworkState } from '../model/policy.ts';
import type { StepLogprobs } from '../rl/previewBatch.ts';
import { creditOf, type Lesson } from '../rl/lesson.ts';
import { loadKept } from './attribution.ts';
import type { Replay } from './replay.ts';

/**
 * What the policy said of each token at every optimizer step of an update, step by step: the update is done again in the replay,
 * whose weights and moments are overwritten. Null where the policy stood still, as while its critic warms up: it said at every
 * step what it had said before the update.
 */
export async function stepLogprobs(
  { policy, math }: Replay,
  batch: BatchView,
  lesson: Lesson,
  before: NetworkState,
): Promise<readonly StepLogprobs[] | null> {
  if (lesson.steps.some(({ optimizer }) => optimizer.criticOnly)) return null;
  policy.writeState({ policy: before, critic: null });
  loadKept({ policy, math }, batch, creditOf(batch, lesson.credit));
  math.show();
  const seen: StepLogprobs[] = [];
  for (const { rows, objective, optimizer, temperature } of lesson.steps) {
    await policy.learn(rows, objective, optimizer, temperature);
    await policy.report(); // steps are told once
    seen.push(math.seen());
  }
  return seen;
}
