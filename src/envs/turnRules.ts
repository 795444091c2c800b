import { Purpose, random, type Random } from '../base/rng.ts';
import type { EnvSettings, EpisodeSeeds, Reset, ToolEnv } from './env.ts';
import { beginEpisode, type Task } from './episodeRules.ts';
import { buildGrammar, freeText, type GrammarState, THINK_WORDS, turnStates } from './grammar.ts';
import { drawOn, type Side } from './split.ts';
import { tagSpeech } from './tagSpeech.ts';
import { type TextTalk, textTurns } from './textTurns.ts';
import type { Vocabulary } from './vocab.ts';

/** What may stand between the tags of a call or an answer. */
export interface Sentence {
  readonly places: readonly (readonly string[])[]; // the words legal at each place
  readonly lengths?: readonly number[]; // places after which it may end; without it only after all of them
}

/** What a turn may say in an environment. */
export interface TurnRules {
  readonly vocabulary: Vocabulary;
  readonly think: boolean;
  readonly maxTurns: number; // the last one can only answer, where there are answers
  readonly call?: Sentence;
  readonly answer?: Sentence;
  readonly text?: TextTalk | null; // the turns are text, and say what the sentences hold in other words
}

/** Which episodes begin. */
export interface Beginning {
  readonly maxTurns?: number; // fewer than the rules have
  readonly side?: Side; // of the split by what a task is; without it all tasks
}

/** What follows for an environment from what its turns may say. */
export interface Turns extends Pick<ToolEnv, 'vocabulary' | 'grammar' | 'maxTurnTokens'> {
  /** Tokens that an episode needs: so many where its words are tokens, more where they are text. */
  readonly room: (words: number) => number;
  /** Begins episodes of the tasks that `make` draws; with `side` it draws on until one is on that side. */
  readonly begin: (
    make: (draw: Random, seeds: EpisodeSeeds, settings: EnvSettings) => Task,
    which?: Beginning,
  ) => Reset;
}

/** Grammars, the length of a turn and the beginning of episodes, from the sentences a turn may hold. Throws without any. */
export function turnRules(rules: TurnRules): Turns {
  const { vocabulary: words, think, maxTurns: allTurns, call, answer } = rules;
  const text = rules.text ? textTurns(rules.text, allTurns) : null;
  const calls = call ? [opening('call', words)] : [];
  const answers = answer ? [opening('answer', words)] : [];
  const lastDiffers = call !== undefined && answer !== undefined;
  const masked = buildGrammar(words.words.length, [
    ...turnStates('turn', [...calls, ...answers], words, think),
    ...(lastDiffers ? turnStates('last', answers, words, think) : []),
    ...sentenceStates('call', call, words),
    ...sentenceStates('answer', answer, words),
    { name: 'end', stop: true, edges: [] },
  ]);
  const free = freeText(words);
  const speech = text?.speech ?? tagSpeech(words, think);
  const longest = Math.max(call?.places.length ?? 0, answer?.places.length ?? 0);
  return {
    vocabulary: text?.vocabulary ?? words.words,
    grammar: (on) => text?.grammar ?? (on ? masked : free).grammar,
    maxTurnTokens: text?.maxTurnTokens ?? longest + 2 + (think ? THINK_WORDS + 2 : 0),
    room: (inWords) => text?.maxTokens ?? inWords,
    begin:
      (make, { maxTurns = allTurns, side } = {}) =>
      (seed, settings, environmentSeed = seed) => {
        const draw = random(seed, Purpose.environment, 0);
        const drawTask = () => make(draw, { seed, environmentSeed }, settings);
        const task = side ? drawOn(side, drawTask) : drawTask();
        const stateOf = (turn: number, { grammar }: EnvSettings) =>
          text?.state ??
          (grammar ? masked.state(lastDiffers && turn >= maxTurns ? 'last' : 'turn') : free.state('turn'));
        return beginEpisode(task, { speech, maxTurns, think, stateOf }, environmentSeed, settings);
      },
  };
}

type Tag = 'call' | 'answer';

function opening(tag: Tag, words: Vocabulary): GrammarState['edges'][number] {
  return [[words.id(`<${tag}>`)], `${tag} 0`];
}

/** A state for each number of words said. */
function sentenceStates(tag: Tag, sentence: Sentence | undefined, words: Vocabulary): readonly GrammarState[] {
  if (!sentence) return [];
  const { places, lengths = [places.length] } = sentence;
  return Array.from({ length: places.length + 1 }, (_, said): GrammarState => {
    const legal = places[said];
    const close = lengths.includes(said) ? [[[words.id(`</${tag}>`)], 'end'] as const] : [];
    return {
      name: `${tag} ${said}`,
      edges: [...close, ...(legal ? [[words.ids(legal), `${tag} ${said + 1}`] as const] : [])],
    };
  });
}
