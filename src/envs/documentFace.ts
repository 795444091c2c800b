import { NEXT_PASSAGE, TITLE_END } from './documentTask.ts';
import { PASSAGE_WORDS, type Documents } from './documents.ts';
import { wordsOf } from './lexicalIndex.ts';
import type { TextFace } from './textFace.ts';

/** Document search in text: words are those of the corpus, whatever they are, and a passage is its title and the words of its text. */
export function documentFace({ corpus, questions }: Documents, topPassages: number, span: number): TextFace {
  const spoken = (kind: string, text: unknown) => {
    const words = wordsOf(String(text));
    if (words.length >= 1 && words.length <= span) return words;
    return { wrong: `${words.length} words as ${kind}; want 1 to ${span}` };
  };
  const longest = (texts: readonly string[]) => [...texts].sort((a, b) => b.length - a.length).slice(0, CANDIDATES);
  const passages = longest(
    corpus.passages.map(({ titleWords, textWords }) =>
      [...titleWords, TITLE_END, ...textWords.slice(0, PASSAGE_WORDS)].join(' '),
    ),
  );
  return {
    system: 'You search for passages, then answer in their words.',
    tool: { name: 'search', description: 'Finds the passages that best match a few words.', parameters: ['query'] },
    question: (_, question) => question,
    callWords: ({ query }) => spoken('query', query),
    values: (words) => ({ query: words.join(' ') }),
    answerWords: (text) => spoken('the answer', text),
    answerText: (words) => words.join(' '),
    observation: (words) =>
      words.join(' ').replaceAll(` ${TITLE_END} `, `${TITLE_END} `).replaceAll(` ${NEXT_PASSAGE} `, '\n'),
    longest: {
      questions: longest(questions.map(({ text }) => `${text}?`)),
      turns: [
        ...longest(questions.flatMap(({ queries }) => queries)).map((query) => ({ tool: 'search', values: { query } })),
        ...longest(questions.map(({ answer }) => answer)).map((answer) => ({ answer })),
      ],
      observations: passages.map((passage) => Array.from({ length: topPassages }, () => passage).join('\n')),
    },
  };
}

/** Of so many texts with the most letters one has the most tokens. */
const CANDIDATES = 8;
