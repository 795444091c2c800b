import type { BatchView } from '../domain/batch.ts';
import type { NetworkState } from '../model/policy.ts';
import type { StepLogprobs } from '../rl/previewBatch.ts';
import { creditOf, type Lesson } from '../rl/lesson.ts';
import { loadKept } from './attribution.ts';
import type { Replay } from './replay.ts';

/**
 * Log-probability, entropy and value of each token at each optimizer step of an update. The replay repeats the update from the state
 * `before`; this overwrites its weights and moments. Null if the update trained only the critic: then the policy's numbers are the same
 * at every step as before the update.
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
    await policy.report(); // reading the report empties the list of steps
    seen.push(math.seen());
  }
  return seen;
}
