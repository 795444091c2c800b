import { create } from 'zustand';
import type { Answer, Trial } from './answer.ts';
import { keyOf } from './exerciseResult.ts';
import { demonstrate, type Demonstrated } from './exerciseRun.ts';

/** What the trials of this visit showed, by `ANSWER/TRIAL`. */
export const useTrials = create<Readonly<Record<string, Demonstrated>>>()(() => ({}));

/** Trains a trial in the lab, with the page's seed and backend. */
export function tryIt({ id }: Answer, trial: Trial): Promise<void> {
  const key = keyOf(id, trial.id);
  return demonstrate(key, trial, (seen) => useTrials.setState({ [key]: seen }));
}
