import type { Quote } from '../text/turnFormat.ts';
import { longestOf, type TextFace, type WrongValue } from './textFace.ts';
import { FAILURE_WORD } from './vocab.ts';

/** Names and limits for writing a graph's words as text. */
export interface GraphNames {
  readonly questionWord: 'Who' | 'What';
  readonly entities: readonly string[]; // words
  readonly relations: readonly string[];
  readonly nameOf: ReadonlyMap<string, string>;
  readonly maxHops: number; // hops
  readonly facts: number; // in an observation
}

const MAX_NAMES_LISTED = 6;

/**
 * The face of a graph search: translates its words to text and back. A fact is a sentence, and an entity is written
 * with its name.
 */
export function graphFace({ questionWord, entities, relations, nameOf, maxHops, facts }: GraphNames): TextFace {
  const nameOfWord = (word: string) => nameOf.get(word) ?? word;
  const wordsByText = (words: readonly string[]) =>
    new Map(words.map((word) => [nameOfWord(word).toLowerCase(), word]));
  const [entitiesByName, relationsByName] = [wordsByText(entities), wordsByText(relations)];
  const wordNamed = (
    wordByText: ReadonlyMap<string, string>,
    argument: string,
    text: unknown,
    quote: Quote,
  ): string | WrongValue => {
    const found = wordByText.get(String(text).trim().toLowerCase());
    if (found !== undefined) return found;
    const known = [...wordByText.values()].slice(0, MAX_NAMES_LISTED).map(nameOfWord);
    return {
      wrong: `${quote(String(text))} as ${argument}; want ${known.length < wordByText.size ? 'such as' : 'one of'} ${known.join(', ')}`,
    };
  };
  const fact = (entity: string, relation: string, to: string) => `The ${relation} of ${entity} is ${to}.`;
  const questionText = (relationNames: readonly string[], of: string) =>
    `${questionWord} is ${relationNames.map((relation) => `the ${relation} of`).join(' ')} ${of}?`;
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
      const entityWord = wordNamed(entitiesByName, 'entity', values['entity'], quote);
      const relationWord = wordNamed(relationsByName, 'relation', values['relation'], quote);
      if (typeof entityWord !== 'string') return entityWord;
      return typeof relationWord === 'string' ? [entityWord, relationWord] : relationWord;
    },
    call: ([entityName = '', relationName = '']) => ({
      tool: 'search',
      values: { entity: nameOfWord(entityName), relation: nameOfWord(relationName) },
    }),
    answerWords: (text, quote) => {
      const found = wordNamed(entitiesByName, 'the answer', text.replace(/\.$/, ''), quote);
      return typeof found === 'string' ? [found] : found;
    },
    answerText: (words) => words.map(nameOfWord).join(' '),
    observation: (words) =>
      words.length % 3 === 0
        ? Array.from({ length: words.length / 3 }, (_, i) => {
            const [factEntity = '', factRelation = '', to = ''] = words.slice(3 * i).map(nameOfWord);
            return fact(factEntity, factRelation, to);
          }).join('\n')
        : words.map(nameOfWord).join(' '),
    longestTexts: (countTokens) => {
      const [entity, relation] = [
        longestOf(entities.map(nameOfWord), countTokens),
        longestOf(relations.map(nameOfWord), countTokens),
      ];
      const chain = Array.from({ length: maxHops }, () => relation);
      return {
        questions: [questionText(chain, entity)],
        turns: [{ tool: 'search', values: { entity, relation } }, { answer: entity }],
        observations: [Array.from({ length: facts }, () => fact(entity, relation, entity)).join('\n'), FAILURE_WORD],
      };
    },
  };
}
