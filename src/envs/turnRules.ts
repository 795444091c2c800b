import { Purpose, random, type Random } from '../base/rng.ts';
import type { EnvSettings, EpisodeSeeds, Reset, ToolEnv } from './env.ts';
import { beginEpisode, type Task } from './episodeRules.ts';
import { buildGrammar, unmaskedGrammar, type GrammarState, THINK_WORDS, turnStates } from './grammar.ts';
import { drawFromSide, type Side } from './split.ts';
import { tagCodec } from './turnCodec.ts';
import { type TextPlay, textTurns } from './textTurns.ts';
import type { Vocabulary } from './vocab.ts';

/** The words that may stand between the tags of a call or an answer. */
export interface Sentence {
  readonly legalWords: readonly (readonly string[])[]; // the words legal at each place
  readonly lengths?: readonly number[]; // numbers of words after which it may end; default: only after all places
}

export interface TurnRules {
  readonly vocabulary: Vocabulary;
  readonly think: boolean;
  readonly maxTurns: number; // if both calls and answers exist, the last turn can only answer
  readonly call?: Sentence;
  readonly answer?: Sentence;
  /** Set if the agent plays in text. The sentences then only describe the environment's words. */
  readonly text?: TextPlay | null;
}

export interface BeginOptions {
  readonly maxTurns?: number; // overrides the limit of the rules
  readonly side?: Side; // draw tasks until one is on this side of the split; default: no restriction
}

/** The parts of an environment that follow from its turn rules. */
export interface EnvTurns extends Pick<ToolEnv, 'vocabulary' | 'grammar' | 'maxTurnTokens'> {
  /** The token limit of an episode: `tokenCount` if each word is a token, otherwise the limit computed for text. */
  readonly episodeTokens: (tokenCount: number) => number;
  /** Returns a `Reset` for the tasks that `make` draws. With `side`, it draws tasks until one is on that side. */
  readonly makeReset: (
    make: (draw: Random, seeds: EpisodeSeeds, settings: EnvSettings) => Task,
    options?: BeginOptions,
  ) => Reset;
}

/** Builds the grammars, the turn limit and the function that begins episodes, from the sentences that a turn may hold. */
export function buildTurns(rules: TurnRules): EnvTurns {
  const { vocabulary, think, maxTurns: turnLimit, call, answer } = rules;
  const text = rules.text ? textTurns(rules.text, turnLimit) : null;
  const callEdges = call ? [openingEdge('call', vocabulary)] : [];
  const answerEdges = answer ? [openingEdge('answer', vocabulary)] : [];
  const lastTurnDiffers = call !== undefined && answer !== undefined;
  const maskedGrammar = buildGrammar(vocabulary.words.length, [
    ...turnStates('turn', [...callEdges, ...answerEdges], vocabulary, think),
    ...(lastTurnDiffers ? turnStates('last', answerEdges, vocabulary, think) : []),
    ...sentenceStates('call', call, vocabulary),
    ...sentenceStates('answer', answer, vocabulary),
    { name: 'end', stop: true, edges: [] },
  ]);
  const freeGrammar = unmaskedGrammar(vocabulary);
  const turnCodec = text?.turnCodec ?? tagCodec(vocabulary, think);
  const longestSentence = Math.max(call?.legalWords.length ?? 0, answer?.legalWords.length ?? 0);
  return {
    vocabulary: text?.vocabulary ?? vocabulary.words,
    grammar: (on) => text?.grammar ?? (on ? maskedGrammar : freeGrammar).grammar,
    maxTurnTokens: text?.maxTurnTokens ?? longestSentence + 2 + (think ? THINK_WORDS + 2 : 0),
    episodeTokens: (wordCount) => text?.maxTokens ?? wordCount,
    makeReset:
      (make, { maxTurns = turnLimit, side } = {}) =>
      (seed, settings, environmentSeed = seed) => {
        const draw = random(seed, Purpose.environment, 0);
        const drawTask = () => make(draw, { seed, environmentSeed }, settings);
        const task = side ? drawFromSide(side, drawTask) : drawTask();
        const grammarStateOf = (turn: number, { grammar }: EnvSettings) =>
          text?.grammarState ??
          (grammar
            ? maskedGrammar.state(lastTurnDiffers && turn >= maxTurns ? 'last' : 'turn')
            : freeGrammar.state('turn'));
        return beginEpisode(task, { turnCodec, maxTurns, think, grammarStateOf }, environmentSeed, settings);
      },
  };
}

type Tag = 'call' | 'answer';

function openingEdge(tag: Tag, vocabulary: Vocabulary): GrammarState['edges'][number] {
  return [[vocabulary.id(`<${tag}>`)], `${tag} 0`];
}

/** Grammar states inside a sentence, one for each number of words written so far. */
function sentenceStates(tag: Tag, sentence: Sentence | undefined, vocabulary: Vocabulary): readonly GrammarState[] {
  if (!sentence) return [];
  const { legalWords, lengths = [legalWords.length] } = sentence;
  return Array.from({ length: legalWords.length + 1 }, (_, wordCount): GrammarState => {
    const nextWords = legalWords[wordCount];
    const close = lengths.includes(wordCount) ? [[[vocabulary.id(`</${tag}>`)], 'end'] as const] : [];
    return {
      name: `${tag} ${wordCount}`,
      edges: [...close, ...(nextWords ? [[vocabulary.ids(nextWords), `${tag} ${wordCount + 1}`] as const] : [])],
    };
  });
}
