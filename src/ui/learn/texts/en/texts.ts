import type { Texts } from '../shape.ts';
import { CHAPTERS } from './chapters.ts';
import { TOUR } from './tour.ts';
import { WORDS } from './words.ts';

/** All texts of Learn in English. */
export const EN: Texts = { language: 'en', decimal: '.', words: WORDS, chapters: CHAPTERS, tour: TOUR };
