import type { Texts } from '../shape.ts';
import { CHAPTERS } from './chapters.ts';
import { TOUR } from './tour.ts';
import { WORDS } from './words.ts';

/** Alle Texte von Learn auf Deutsch. */
export const DE: Texts = { language: 'de', decimal: ',', words: WORDS, chapters: CHAPTERS, tour: TOUR };
