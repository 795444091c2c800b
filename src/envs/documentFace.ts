import { NEXT_PASSAGE, NOTHING, TITLE_END } from './documentTask.ts';
import { PASSAGE_WORDS, type Documents } from './documentCollection.ts';
import { wordsOf } from './lexicalIndex.ts';
import { longestOf, type TextFace } from './textFace.ts';
import { FAILURE_WORD } from './vocab.ts';

/**
 * The text face of document search. Words are written as in the corpus, and a passage is its title and the words of its
 * text.
 */
export function documentFace({ corpus, questions }: Documents, topPassages: number, span: number): TextFace {
  const spoken = (kind: string, text: unknown) => {
    const words = wordsOf(String(text));
    if (words.length >= 1 && words.length <= span) return words;
    return { wrong: `${words.length} words as ${kind}; want 1 to ${span}` };
  };
  const observation = (words: readonly string[]) =>
    words.join(' ').replaceAll(` ${TITLE_END} `, `${TITLE_END} `).replaceAll(` ${NEXT_PASSAGE} `, '\n');
  return {
    system: 'You search for passages, then answer in their words.',
    tools: [{ name: 'search', description: 'Finds the passages that best match a few words.', parameters: ['query'] }],
    question: (_, question) => question,
    callWords: ({ query }) => spoken('query', query),
    call: (words) => ({ tool: 'search', values: { query: words.join(' ') } }),
    answerWords: (text) => spoken('the answer', text),
    answerText: (words) => words.join(' '),
    observation,
    longest: (tokens) => {
      const passages = corpus.passages.map(({ titleWords, textWords }) =>
        observation([...titleWords, TITLE_END, ...textWords.slice(0, PASSAGE_WORDS)]),
      );
      const passage = longestOf(passages, tokens);
      const query = longestOf(
        questions.flatMap(({ queries }) => queries),
        tokens,
      );
      const answer = longestOf(
        questions.map((question) => question.answer),
        tokens,
      );
      const asked = longestOf(
        questions.map(({ text }) => `${text}?`),
        tokens,
      );
      return {
        questions: [asked],
        turns: [{ tool: 'search', values: { query } }, { answer }],
        observations: [Array.from({ length: topPassages }, () => passage).join('\n'), NOTHING, FAILURE_WORD],
      };
    },
  };
}
