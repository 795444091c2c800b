import { createContext, useContext, useEffect, useState } from 'react';
import { type LearnMessage, sentenceOf } from './learnMessage.ts';
import { loadTexts } from './texts/catalogue.ts';
import type { Language, Texts } from './texts/shape.ts';
import type { Words } from './texts/en/words.ts';
import { notice } from '../shell/notices.ts';

/**
 * The catalogue of a language. While it loads, returns the previous language's; null before the first one is loaded.
 */
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

/** Provides the catalogue in use. */
export const TextsContext = createContext<Texts | null>(null);

/** The catalogue in use. Throws outside of Learn. */
export function useTexts(): Texts {
  const texts = useContext(TextsContext);
  if (!texts) throw new Error('useTexts: there is no TextsContext around this component');
  return texts;
}

/** Returns a function that gives a sentence in the language in use, with its placeholders filled. */
export function useSay(): (word: keyof Words, values?: LearnMessage['values']) => string {
  const texts = useTexts();
  return (word, values = {}) => sentenceOf(texts, { word, values });
}
