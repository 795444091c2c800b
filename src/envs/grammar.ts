import type { Grammar } from '../domain/tokens.ts';
import type { Vocabulary } from './vocab.ts';

/** Largest number of words in a think span under the grammar. */
export const THINK_WORDS = 3;

/** A grammar state: its name, the tokens that are legal in it, and the state to which each token leads. */
export interface GrammarState {
  readonly name: string;
  readonly stop?: boolean; // entering it ends the turn
  readonly edges: readonly (readonly [tokens: readonly number[], to: string])[];
}

export interface NamedGrammar {
  readonly grammar: Grammar;
  readonly state: (name: string) => number; // throws on an unknown name
}

/** The table of src/domain/tokens.ts. State 0 allows every token; `states` follow in order. Throws on more than 256 states. */
export function buildGrammar(vocabularySize: number, states: readonly GrammarState[]): NamedGrammar {
  const count = states.length + 1;
  if (count > 256) throw new RangeError(`buildGrammar: ${count} states are too many: the limit is 256.`);
  const stateNumbers = new Map(states.map(({ name }, i) => [name, i + 1]));
  const state = (name: string): number => {
    const found = stateNumbers.get(name);
    if (found === undefined) {
      throw new RangeError(
        `buildGrammar: there is no state ${name}. The states are ${[...stateNumbers.keys()].join(', ')}.`,
      );
    }
    return found;
  };
  const next = new Int32Array(count * vocabularySize).fill(-1);
  next.fill(0, 0, vocabularySize);
  const stop = new Uint8Array(count);
  for (const { name, stop: ends, edges } of states) {
    const stateNumber = state(name);
    stop[stateNumber] = ends ? 1 : 0;
    for (const [tokens, to] of edges)
      for (const token of tokens) next[stateNumber * vocabularySize + token] = state(to);
  }
  return { grammar: { states: count, vocabulary: vocabularySize, next, stop }, state };
}

/** The grammar without a mask: every token is legal, and the closing tag of a call or an answer ends the turn. */
export function unmaskedGrammar(vocabulary: Vocabulary): NamedGrammar {
  const closingIds = vocabulary.ids(['</call>', '</answer>']);
  const otherIds = vocabulary.words.map((_, id) => id).filter((id) => !closingIds.includes(id));
  return buildGrammar(vocabulary.words.length, [
    {
      name: 'turn',
      edges: [
        [otherIds, 'turn'],
        [closingIds, 'end'],
      ],
    },
    { name: 'end', stop: true, edges: [] },
  ]);
}

/** A turn begins with `edges`. With `think`, a span `<think> w… </think>` of at most THINK_WORDS words may come first. */
export function turnStates(
  name: string,
  edges: GrammarState['edges'],
  vocabulary: Vocabulary,
  think: boolean,
): readonly GrammarState[] {
  if (!think) return [{ name, edges }];
  const close = [vocabulary.id('</think>')];
  const spans = Array.from({ length: THINK_WORDS + 1 }, (_, wordCount): GrammarState => {
    const closing = [close, `${name} after thinking`] as const;
    return {
      name: `${name} thinking ${wordCount}`,
      edges:
        wordCount < THINK_WORDS ? [closing, [vocabulary.nonTagIds, `${name} thinking ${wordCount + 1}`]] : [closing],
    };
  });
  return [
    { name, edges: [...edges, [[vocabulary.id('<think>')], `${name} thinking 0`]] },
    ...spans,
    { name: `${name} after thinking`, edges },
  ];
}
