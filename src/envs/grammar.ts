import type { Grammar } from '../domain/tokens.ts';
import type { Vocabulary } from './vocab.ts';

/** Content words a think span may hold under the grammar. */
export const THINK_WORDS = 3;

/** One state of a grammar by name: the tokens that are legal in it, and the state each leads to. */
export interface GrammarState {
  readonly name: string;
  readonly stop?: boolean; // entering it ends the turn
  readonly edges: readonly (readonly [tokens: readonly number[], to: string])[];
}

/** A grammar and the numbers of its states. */
export interface NamedGrammar {
  readonly grammar: Grammar;
  readonly state: (name: string) => number; // throws on an unknown name
}

/** Builds the table of src/domain/tokens.ts. State 0 is free; `states` follow in order. Throws on more than 256. */
export function buildGrammar(vocabulary: number, states: readonly GrammarState[]): NamedGrammar {
  const count = states.length + 1;
  if (count > 256) throw new RangeError(`buildGrammar: ${count} states are too many: the limit is 256.`);
  const number = new Map(states.map(({ name }, i) => [name, i + 1]));
  const state = (name: string): number => {
    const found = number.get(name);
    if (found === undefined) {
      throw new RangeError(`buildGrammar: there is no state ${name}. The states are ${[...number.keys()].join(', ')}.`);
    }
    return found;
  };
  const next = new Int32Array(count * vocabulary).fill(-1);
  next.fill(0, 0, vocabulary);
  const stop = new Uint8Array(count);
  for (const { name, stop: ends, edges } of states) {
    const s = state(name);
    stop[s] = ends ? 1 : 0;
    for (const [tokens, to] of edges) for (const token of tokens) next[s * vocabulary + token] = state(to);
  }
  return { grammar: { states: count, vocabulary, next, stop }, state };
}

/** The grammar of the switched-off mask: every token is legal, and a closing tag of a call or an answer ends the turn. */
export function freeText(words: Vocabulary): NamedGrammar {
  const closers = words.ids(['</call>', '</answer>']);
  const others = words.words.map((_, id) => id).filter((id) => !closers.includes(id));
  return buildGrammar(words.words.length, [
    {
      name: 'turn',
      edges: [
        [others, 'turn'],
        [closers, 'end'],
      ],
    },
    { name: 'end', stop: true, edges: [] },
  ]);
}

/**
 * The states of a turn called `name` that opens with `edges`; with `think`, a span `<think> w… </think>` of at most
 * THINK_WORDS words may come first.
 */
export function turnStates(
  name: string,
  edges: GrammarState['edges'],
  words: Vocabulary,
  think: boolean,
): readonly GrammarState[] {
  if (!think) return [{ name, edges }];
  const close = [words.id('</think>')];
  const spans = Array.from({ length: THINK_WORDS + 1 }, (_, held): GrammarState => {
    const shut = [close, `${name} after thinking`] as const;
    return {
      name: `${name} thinking ${held}`,
      edges: held < THINK_WORDS ? [shut, [words.content, `${name} thinking ${held + 1}`]] : [shut],
    };
  });
  return [
    { name, edges: [...edges, [[words.id('<think>')], `${name} thinking 0`]] },
    ...spans,
    { name: `${name} after thinking`, edges },
  ];
}
