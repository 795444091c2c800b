import { storedWord, storeWord } from '../parts/storedWord.ts';

const KEY = 'rollout-playground-tour';

/** Whether the tour may still be offered: who has begun it once knows of it. Without storage it is at each visit. */
export const isOffered = (): boolean => storedWord(KEY) === null;

/** The tour was begun: it is not offered again. */
export const forgetOffer = (): void => storeWord(KEY, 'begun');
