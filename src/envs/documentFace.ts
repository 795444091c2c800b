import { PASSAGE_SEPARATOR, NO_HITS_WORD, TITLE_END } from './documentTask.ts';
import { PASSAGE_WORDS, type Documents } from './documentCollection.ts';
import { wordsOf } from './lexicalIndex.ts';
import { longestOf, type TextFace } from './textFace.ts';
import { FAILURE_WORD } from './vocab.ts';

/**
 * The face of document search: translates its words to text and back. Words are written as in the corpus, and a
 * passage is its title and the words of its text.
 */
export function documentFace({ corpus, questions }: Documents, topPassages: number, maxWords: number): TextFace {
  const checkedWords = (kind: string, text: unknown) => {
    const words = wordsOf(String(text));
    if (words.length >= 1 && words.length <= maxWords) return words;
    return { wrong: `${words.length} words as ${kind}; want 1 to ${maxWords}` };
  };
  const observation = (words: readonly string[]) =>
    words.join(' ').replaceAll(` ${TITLE_END} `, `${TITLE_END} `).replaceAll(` ${PASSAGE_SEPARATOR} `, '\n');
  return {
    system: 'You search for passages, then answer in their words.',
    tools: [{ name: 'search', description: 'Finds the passages that best match a few words.', parameters: ['query'] }],
    question: (_, question) => question,
    callWords: ({ query }) => checkedWords('query', query),
    call: (words) => ({ tool: 'search', values: { query: words.join(' ') } }),
    answerWords: (text) => checkedWords('the answer', text),
    answerText: (words) => words.join(' '),
    observation,
    longestTexts: (countTokens) => {
      const passages = corpus.passages.map(({ titleWords, textWords }) =>
        observation([...titleWords, TITLE_END, ...textWords.slice(0, PASSAGE_WORDS)]),
      );
      const passage = longestOf(passages, countTokens);
      const query = longestOf(
        questions.flatMap(({ queries }) => queries),
        countTokens,
      );
      const answer = longestOf(
        questions.map((question) => question.answer),
        countTokens,
      );
      const asked = longestOf(
        questions.map(({ text }) => `${text}?`),
        countTokens,
      );
      return {
        questions: [asked],
        turns: [{ tool: 'search', values: { query } }, { answer }],
        observations: [Array.from({ length: topPassages }, () => passage).join('\n'), NO_HITS_WORD, FAILURE_WORD],
      };
    },
  };
}
