import { createContext, useContext, useEffect, useState } from 'react';
import { type LearnMessage, sentenceOf } from './learnMessage.ts';
import { loadTexts } from './texts/catalogue.ts';
import type { Language, Texts } from './texts/shape.ts';
import type { Words } from './texts/en/words.ts';
import { notice } from '../shell/notices.ts';

/** The catalogue of a language once it is here; the one before it meanwhile, and null before the first. */
export function useLoadedTexts(language: Language): Texts | null {
  const [texts, setTexts] = useState<Texts | null>(null);
  useEffect(() => {
    let unmounted = false;
    loadTexts(language).then(
      (loaded) => {
        if (!unmounted) setTexts(loaded);
      },
      () => notice(`The texts of Learn could not be loaded (${language}). Check the connection and reload the page.`),
    );
    return () => {
      unmounted = true;
    };
  }, [language]);
  return texts;
}

/** The catalogue in use. */
export const TextsContext = createContext<Texts | null>(null);

/** The catalogue in use. Throws outside of Learn. */
export function useTexts(): Texts {
  const texts = useContext(TextsContext);
  if (!texts) throw new Error('useTexts: no catalogue around it');
  return texts;
}

/** Writes a sentence of the page in the language in use, its places filled. */
export function useSay(): (word: keyof Words, values?: LearnMessage['values']) => string {
  const texts = useTexts();
  return (word, values = {}) => sentenceOf(texts, { word, values });
}
