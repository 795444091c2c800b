import type { RunConfig } from '../config/fields.ts';
import type { Question } from './questions.ts';

/** Asks a run to play a task as recordings have it played: the luck and the draws of a task are always the same. */
export function playQuestion(
  seed: number,
  { temperature, topK, topP }: RunConfig,
): Question & { readonly kind: 'talk' } {
  const sampling = { temperature, topK, topP, greedy: false };
  return { kind: 'talk', asked: { seed }, luck: seed, script: [], voice: 'now', sampling, take: 1 };
}
