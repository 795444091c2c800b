import type { RunConfig } from '../config/fields.ts';
import type { Question } from './questions.ts';

/**
 * Makes the question that asks a run to play a task as in recordings, with the same random events and the same draws
 * each time.
 */
export function playQuestion(
  seed: number,
  { temperature, topK, topP }: RunConfig,
): Question & { readonly kind: 'talk' } {
  const sampling = { temperature, topK, topP, greedy: false };
  return {
    kind: 'talk',
    chosenTask: { seed },
    environmentSeed: seed,
    agentPrefix: [],
    voice: 'now',
    sampling,
    drawIndex: 1,
  };
}
