import type { Quote } from '../text/turnFormat.ts';
import { longestOf, type TextFace, type Wrong } from './textFace.ts';
import { FAILURE_WORD } from './vocab.ts';

/** Names and limits for writing a graph's words as text. */
export interface GraphNames {
  readonly asks: 'Who' | 'What';
  readonly entities: readonly string[]; // words
  readonly relations: readonly string[];
  readonly nameOf: ReadonlyMap<string, string>;
  readonly longestChain: number; // hops
  readonly facts: number; // in an observation
}

const MAX_NAMES_LISTED = 6;

/** The text face of a graph search. A fact is a sentence, and an entity is written with its name. */
export function graphFace({ asks, entities, relations, nameOf, longestChain, facts }: GraphNames): TextFace {
  const nameOfWord = (word: string) => nameOf.get(word) ?? word;
  const wordsByText = (words: readonly string[]) =>
    new Map(words.map((word) => [nameOfWord(word).toLowerCase(), word]));
  const [entityOf, relationOf] = [wordsByText(entities), wordsByText(relations)];
  const word = (
    wordByText: ReadonlyMap<string, string>,
    place: string,
    text: unknown,
    quote: Quote,
  ): string | Wrong => {
    const found = wordByText.get(String(text).trim().toLowerCase());
    if (found !== undefined) return found;
    const known = [...wordByText.values()].slice(0, MAX_NAMES_LISTED).map(nameOfWord);
    return {
      wrong: `${quote(String(text))} as ${place}; want ${known.length < wordByText.size ? 'such as' : 'one of'} ${known.join(', ')}`,
    };
  };
  const fact = (entity: string, relation: string, to: string) => `The ${relation} of ${entity} is ${to}.`;
  const questionText = (asked: readonly string[], of: string) =>
    `${asks} is ${asked.map((relation) => `the ${relation} of`).join(' ')} ${of}?`;
  return {
    system: 'You look up facts, one a call, then answer with a name.',
    tools: [
      {
        name: 'search',
        description: 'Looks up the relation of an entity.',
        parameters: ['entity', 'relation'],
      },
    ],
    // <bos> question r … r e ?
    question: (words) => questionText(words.slice(2, -2).map(nameOfWord), nameOfWord(words.at(-2) ?? '')),
    callWords: (values, quote) => {
      const of = word(entityOf, 'entity', values['entity'], quote);
      const by = word(relationOf, 'relation', values['relation'], quote);
      if (typeof of !== 'string') return of;
      return typeof by === 'string' ? [of, by] : by;
    },
    call: ([of = '', by = '']) => ({ tool: 'search', values: { entity: nameOfWord(of), relation: nameOfWord(by) } }),
    answerWords: (text, quote) => {
      const found = word(entityOf, 'the answer', text.replace(/\.$/, ''), quote);
      return typeof found === 'string' ? [found] : found;
    },
    answerText: (words) => words.map(nameOfWord).join(' '),
    observation: (words) =>
      words.length % 3 === 0
        ? Array.from({ length: words.length / 3 }, (_, i) => {
            const [of = '', by = '', to = ''] = words.slice(3 * i).map(nameOfWord);
            return fact(of, by, to);
          }).join('\n')
        : words.map(nameOfWord).join(' '),
    longest: (tokens) => {
      const [entity, relation] = [
        longestOf(entities.map(nameOfWord), tokens),
        longestOf(relations.map(nameOfWord), tokens),
      ];
      const chain = Array.from({ length: longestChain }, () => relation);
      return {
        questions: [questionText(chain, entity)],
        turns: [{ tool: 'search', values: { entity, relation } }, { answer: entity }],
        observations: [Array.from({ length: facts }, () => fact(entity, relation, entity)).join('\n'), FAILURE_WORD],
      };
    },
  };
}
