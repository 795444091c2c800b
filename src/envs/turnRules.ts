import { Purpose, random, type Random } from '../base/rng.ts';
import type { EnvSettings, EpisodeSeeds, Reset, ToolEnv } from './env.ts';
import { beginEpisode, type Task } from './episodeRules.ts';
import { buildGrammar, freeText, type GrammarState, THINK_WORDS, turnStates } from './grammar.ts';
import { drawOn, type Side } from './split.ts';
import { tagSpeech } from './tagSpeech.ts';
import { type TextPlay, textTurns } from './textTurns.ts';
import type { Vocabulary } from './vocab.ts';

/** The words that may stand between the tags of a call or an answer. */
export interface Sentence {
  readonly places: readonly (readonly string[])[]; // the words legal at each place
  readonly lengths?: readonly number[]; // numbers of words after which it may end; default: only after all places
}

/** The words, sentences and limits of the turns in an environment. */
export interface TurnRules {
  readonly vocabulary: Vocabulary;
  readonly think: boolean;
  readonly maxTurns: number; // if both calls and answers exist, the last turn can only answer
  readonly call?: Sentence;
  readonly answer?: Sentence;
  /** Set if the agent plays in text. The sentences then only describe the environment's words. */
  readonly text?: TextPlay | null;
}

/** Options of the episodes to begin. */
export interface BeginOptions {
  readonly maxTurns?: number; // overrides the limit of the rules
  readonly side?: Side; // draw tasks until one is on this side of the split; default: no restriction
}

/** The parts of an environment that follow from its turn rules. */
export interface Turns extends Pick<ToolEnv, 'vocabulary' | 'grammar' | 'maxTurnTokens'> {
  /** The token limit of an episode: `words` if each word is a token, otherwise the limit computed for text. */
  readonly episodeTokens: (words: number) => number;
  /** Returns a `Reset` for the tasks that `make` draws. With `side`, it draws tasks until one is on that side. */
  readonly begin: (
    make: (draw: Random, seeds: EpisodeSeeds, settings: EnvSettings) => Task,
    which?: BeginOptions,
  ) => Reset;
}

/**
 * Builds the grammars, the turn limit and the function that begins episodes, from the sentences that a turn may hold.
 */
export function turnRules(rules: TurnRules): Turns {
  const { vocabulary: words, think, maxTurns: turnLimit, call, answer } = rules;
  const text = rules.text ? textTurns(rules.text, turnLimit) : null;
  const calls = call ? [openingEdge('call', words)] : [];
  const answers = answer ? [openingEdge('answer', words)] : [];
  const lastDiffers = call !== undefined && answer !== undefined;
  const maskedGrammar = buildGrammar(words.words.length, [
    ...turnStates('turn', [...calls, ...answers], words, think),
    ...(lastDiffers ? turnStates('last', answers, words, think) : []),
    ...sentenceStates('call', call, words),
    ...sentenceStates('answer', answer, words),
    { name: 'end', stop: true, edges: [] },
  ]);
  const freeGrammar = freeText(words);
  const speech = text?.speech ?? tagSpeech(words, think);
  const longest = Math.max(call?.places.length ?? 0, answer?.places.length ?? 0);
  return {
    vocabulary: text?.vocabulary ?? words.words,
    grammar: (on) => text?.grammar ?? (on ? maskedGrammar : freeGrammar).grammar,
    maxTurnTokens: text?.maxTurnTokens ?? longest + 2 + (think ? THINK_WORDS + 2 : 0),
    episodeTokens: (wordCount) => text?.maxTokens ?? wordCount,
    begin:
      (make, { maxTurns = turnLimit, side } = {}) =>
      (seed, settings, environmentSeed = seed) => {
        const draw = random(seed, Purpose.environment, 0);
        const drawTask = () => make(draw, { seed, environmentSeed }, settings);
        const task = side ? drawOn(side, drawTask) : drawTask();
        const stateOf = (turn: number, { grammar }: EnvSettings) =>
          text?.state ??
          (grammar
            ? maskedGrammar.state(lastDiffers && turn >= maxTurns ? 'last' : 'turn')
            : freeGrammar.state('turn'));
        return beginEpisode(task, { speech, maxTurns, think, stateOf }, environmentSeed, settings);
      },
  };
}

type Tag = 'call' | 'answer';

function openingEdge(tag: Tag, words: Vocabulary): GrammarState['edges'][number] {
  return [[words.id(`<${tag}>`)], `${tag} 0`];
}

/** Grammar states inside a sentence, one for each number of words written so far. */
function sentenceStates(tag: Tag, sentence: Sentence | undefined, words: Vocabulary): readonly GrammarState[] {
  if (!sentence) return [];
  const { places, lengths = [places.length] } = sentence;
  return Array.from({ length: places.length + 1 }, (_, wordCount): GrammarState => {
    const nextWords = places[wordCount];
    const close = lengths.includes(wordCount) ? [[[words.id(`</${tag}>`)], 'end'] as const] : [];
    return {
      name: `${tag} ${wordCount}`,
      edges: [...close, ...(nextWords ? [[words.ids(nextWords), `${tag} ${wordCount + 1}`] as const] : [])],
    };
  });
}
