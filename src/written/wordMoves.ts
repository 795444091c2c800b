import type { Random } from '../base/rng.ts';
import type { Grammar } from '../domain/tokens.ts';
import { emptyEntitySlots, entitySlotWords, UNNAMED } from '../envs/entitySlots.ts';
import { buildGrammar, freeText, type GrammarState, THINK_WORDS, turnStates } from '../envs/grammar.ts';
import type { Speech } from '../envs/speech.ts';
import { tagSpeech } from '../envs/tagSpeech.ts';
import { ERROR_WORD, FAILURE_WORD, vocabulary } from '../envs/vocab.ts';
import type { ClassSettings } from './classSettings.ts';
import type { Declaration } from './declaration.ts';
import { answersOf, type MeasuredTexts } from './measuredTexts.ts';
import type { MoveLanguage } from './moveLanguage.ts';
import { argumentProblem, type Play } from './plays.ts';
import { type ArgumentPlace, argumentPlaces, needsEndMark } from './argumentPlaces.ts';
import { textWords, valueWords, wordsValue } from './valueWords.ts';
import { isTag } from '../text/tags.ts';
import type { ToolFace } from '../text/toolSchema.ts';

/** The turns of an agent for which every word is a token (`language=words`), in a person's environment. */
export interface WordTurns {
  readonly vocabulary: readonly string[];
  readonly speech: Speech;
  readonly grammar: (on: boolean) => Grammar;
  readonly state: (grammarOn: boolean) => number; // the grammar state in which every turn begins
  readonly maxTurnTokens: number;
  readonly maxTokens: number;
  readonly tokens: (text: string) => number; // the number of tokens that a text takes
  /** Cuts a tool's answer to as many words as the longest measured answer had. */
  readonly shortened: (text: string) => string;
  /** Makes the language of one episode. `draw` assigns slots to words. */
  readonly language: (draw: Random) => MoveLanguage;
}

/** The word that ends an argument of several words, if another argument follows. */
const NEXT_ARGUMENT = '<next>';
/**
 * Reserve: the number of slots that measured episodes needed is multiplied by this, because later episodes may need
 * more.
 */
const SLOT_RESERVE = 1.25;

/**
 * Makes the language of a person's environment from the texts of the measured tasks. Common words are tokens of their
 * own. Every other word is written as a slot, which stands for a different word in each episode (Hermann et al. 2015,
 * arXiv 1506.03340). So the agent can't learn such words by heart, but it can copy them. With the grammar on, an
 * argument takes only words that the expert used for it in some task.
 */
export function wordTurns(
  declaration: Declaration,
  measured: MeasuredTexts,
  { maxTurns }: ClassSettings,
  think: boolean,
): WordTurns {
  const { tools } = declaration;
  const { plays, shown, moves } = measured;
  const commonSet: ReadonlySet<string> = new Set([...commonWords(measured, tools), ERROR_WORD, FAILURE_WORD]);
  const rare = (play: Play) => new Set(textWordsOf(play).filter((word) => !commonSet.has(word))).size;
  const slotsPerKind = Math.max(1, Math.ceil(SLOT_RESERVE * most(plays.map(rare))));
  const slots = entitySlotWords({ name: slotsPerKind, number: slotsPerKind, word: slotsPerKind });
  const slotList = Object.values(slots).flat();
  const marks = [ERROR_WORD, FAILURE_WORD, UNNAMED, NEXT_ARGUMENT, ...slotList];
  const words = vocabulary([...[...commonSet].filter((word) => !marks.includes(word)), ...marks.slice(2)]);

  const places = new Map(tools.map((tool) => [tool.name, argumentPlaces(tool, moves)]));
  const answer = canAnswer(declaration, shown, maxTurns) ? answerPlace(moves) : null;
  const longestCall = most(
    [...places.values()].map(
      (list) => 1 + list.reduce((sum, place, at) => sum + place.most + (needsEndMark(list, at) ? 1 : 0), 0),
    ),
  );
  const maxTurnTokens = 2 + Math.max(longestCall, answer?.most ?? 0) + (think ? THINK_WORDS + 2 : 0);
  const longestObservation = Math.max(1, most(plays.flatMap(answersOf).map((text) => textWords(text).length)));
  const longestPrompt = most(plays.map(({ prompt }) => textWords(prompt).length));
  const opening = [
    ...(tools.length > 0 ? [[[words.id('<call>')], 'call'] as const] : []),
    ...(answer ? [[[words.id('<answer>')], 'answer 0'] as const] : []),
  ];
  const masked = buildGrammar(words.words.length, [
    ...turnStates('turn', opening, words, think),
    { name: 'call', edges: tools.map(({ name }) => [[words.id(name)], `${name} 0 0`] as const) },
    ...[...places].flatMap(([tool, list]) => callStates(tool, list)),
    ...(answer ? wordStates('answer', answer, words.id('</answer>'), 'end') : []),
    { name: 'end', stop: true, edges: [] },
  ]);
  const free = freeText(words);

  return {
    vocabulary: words.words,
    speech: tagSpeech(words, think),
    grammar: (on) => (on ? masked : free).grammar,
    state: (on) => (on ? masked : free).state('turn'),
    maxTurnTokens,
    maxTokens: 1 + longestPrompt + maxTurns * maxTurnTokens + (maxTurns - 1) * (2 + longestObservation),
    tokens: (text) => textWords(text).length,
    shortened: (text) => {
      const words = textWords(text);
      return words.length <= longestObservation ? text : words.slice(0, longestObservation).join(' ');
    },
    language,
  };

  /** The token ids that an argument may have. They include slots if the expert used a rare word for it in any task. */
  function legal({ words: placeWords }: ArgumentPlace): readonly number[] {
    const common = placeWords.filter((word) => commonSet.has(word));
    return words.ids([...common, ...(common.length < placeWords.length ? slotList : [])]);
  }

  /** True if an argument may have this word or slot. */
  function isLegal(word: string, { words: placeWords }: ArgumentPlace): boolean {
    if (word === UNNAMED) return false;
    return commonSet.has(word) ? placeWords.includes(word) : placeWords.some((each) => !commonSet.has(each));
  }

  /** The grammar states `tool i n`: n words of argument i have been written. */
  function callStates(tool: string, list: readonly ArgumentPlace[]): readonly GrammarState[] {
    const close = words.id('</call>');
    if (list.length === 0) return [{ name: `${tool} 0 0`, edges: [[[close], 'end']] }];
    return list.flatMap((place, at): readonly GrammarState[] => {
      const next = `${tool} ${at + 1} 0`;
      if (at === list.length - 1) return wordStates(`${tool} ${at}`, place, close, 'end');
      if (needsEndMark(list, at)) return wordStates(`${tool} ${at}`, place, words.id(NEXT_ARGUMENT), next);
      return [{ name: `${tool} ${at} 0`, edges: [[legal(place), next]] }];
    });
  }

  /**
   * The grammar states of one argument, which takes up to `place.most` words. The token `close` leads to the state
   * `to`.
   */
  function wordStates(name: string, place: ArgumentPlace, close: number, to: string): readonly GrammarState[] {
    return Array.from({ length: place.most + 1 }, (_, count): GrammarState => ({
      name: `${name} ${count}`,
      edges: [
        ...(count > 0 ? [[[close], to] as const] : []),
        ...(count < place.most ? [[legal(place), `${name} ${count + 1}`] as const] : []),
      ],
    }));
  }

  function language(draw: Random): MoveLanguage {
    const slotted = emptyEntitySlots(commonSet, slots, draw, (word) => word);
    const someCall = moves.find((move) => 'tool' in move);
    // A player may use words that did not occur in the measured tasks, or more rare words than there are slots. The
    // agent can't write these, so the demonstration gets a word that the agent can write.
    const written = (value: unknown, place: ArgumentPlace) => {
      const valueTokens = slotted.write(valueWords(value)).slice(0, place.most);
      if (valueTokens.every((word) => isLegal(word, place))) return valueTokens;
      const writable = place.words.filter((word) => commonSet.has(word));
      return (writable.length > 0 ? writable : [...slotted.names.keys(), ...slotList]).slice(0, 1);
    };
    return {
      names: slotted.names,
      prompt: (text) => ['<bos>', ...slotted.write(textWords(text)).slice(0, longestPrompt)],
      observation: (text) => slotted.write(textWords(text)),
      turn: (move) => {
        // if the agent can't answer in text, even a player without a next move has to make a call
        const ownMove = 'answer' in move && !answer && someCall ? someCall : move;
        if ('answer' in ownMove) return ['<answer>', ...(answer ? written(ownMove.answer, answer) : []), '</answer>'];
        const list = places.get(ownMove.tool) ?? [];
        const values = list.flatMap((place, at) => [
          ...written(ownMove.values[place.name], place),
          ...(needsEndMark(list, at) ? [NEXT_ARGUMENT] : []),
        ]);
        return ['<call>', ownMove.tool, ...values, '</call>'];
      },
      call: ([name, ...callWords]) => {
        const tool = tools.find((one) => one.name === name);
        const list = tool && places.get(tool.name);
        if (!tool || !list) return null;
        const values: Record<string, unknown> = {};
        let from = 0;
        for (const [at, place] of list.entries()) {
          const mark = needsEndMark(list, at);
          const to =
            at === list.length - 1 ? callWords.length : mark ? callWords.indexOf(NEXT_ARGUMENT, from) : from + 1;
          const read = to > from ? slotted.read(callWords.slice(from, to)) : [];
          // no words, or a slot without a word in this episode
          if (read.length === 0 || read.length < to - from) return null;
          values[place.name] = wordsValue(read, place.type);
          from = to + (mark ? 1 : 0);
        }
        return from < callWords.length || argumentProblem(tool, values) !== null ? null : { tool: tool.name, values };
      },
      answer: (callWords) => String(wordsValue(slotted.read(callWords), 'string')),
    };
  }
}

/**
 * True if a turn can be an answer in text: the class has `answer()`, or the expert answers or stops before the episode
 * is over.
 */
function canAnswer({ hearsAnswer, tools }: Declaration, shown: readonly Play[], maxTurns: number): boolean {
  const stops = ({ moves, replies }: Play) => moves.length < maxTurns && replies.at(-1)?.over !== true;
  return (
    hearsAnswer ||
    tools.length === 0 ||
    shown.some((play) => play.moves.some((move) => 'answer' in move) || stops(play))
  );
}

function answerPlace(moves: MeasuredTexts['moves']): ArgumentPlace {
  const answers = moves.flatMap((move) => ('answer' in move ? [valueWords(move.answer)] : []));
  return {
    name: 'answer',
    type: 'string',
    fixed: false,
    words: [...new Set(['?', ...answers.flat()])],
    most: Math.max(1, most(answers.map(({ length }) => length))),
  };
}

const textWordsOf = (play: Play) => [play.prompt, ...answersOf(play)].flatMap(textWords);
const most = (counts: readonly number[]) => counts.reduce((sum, count) => Math.max(sum, count), 0);

/** Limit on the words of an environment that get a token. Each one makes the embedding and the softmax larger. */
const MAX_COMMON_WORDS = 400;
/** Share of the measured episodes in which a word must occur to get a token of its own. */
const MIN_SHARE = 0.01;
/** The form of a slot's name. */
const SLOT_NAME = /^(?:name|number|word)\d+$/;

/**
 * The words of an environment that are tokens of their own, sorted. They are the words of its tools, words in arguments
 * that the player had not read before, and words that occur in at least 1 % of the measured episodes. If there are too
 * many, the least frequent of the latter are left out first.
 */
function commonWords({ plays, shown, moves }: MeasuredTexts, tools: readonly ToolFace[]): readonly string[] {
  const needed = new Set([
    ...tools.map(({ name }) => name),
    ...tools.flatMap((tool) => argumentPlaces(tool, moves).flatMap(({ words, fixed }) => (fixed ? words : []))),
    '?',
  ]);
  const counts = new Map<string, number>();
  const count = (words: Iterable<string>) => {
    for (const word of new Set(words)) counts.set(word, (counts.get(word) ?? 0) + 1);
  };
  for (const play of plays) count([play.prompt, ...answersOf(play)].flatMap(textWords));
  for (const { prompt, moves: own, replies } of shown) {
    const wordsRead = new Set(textWords(prompt));
    for (const [turn, move] of own.entries()) {
      const values = 'answer' in move ? [move.answer] : Object.values(move.values);
      for (const word of values.flatMap(valueWords)) if (!wordsRead.has(word)) needed.add(word);
      const { text, refused } = replies[turn] ?? {};
      for (const word of textWords(text ?? refused ?? '')) wordsRead.add(word);
    }
  }
  const minCount = MIN_SHARE * plays.length;
  const commonEnough = [...counts].filter(([word, times]) => times >= minCount && !needed.has(word));
  const frequent = commonEnough.toSorted(([a, m], [b, n]) => n - m || alphabetically(a, b)).map(([word]) => word);
  const candidates = [...needed, ...frequent].filter((word) => !isTag(word) && !SLOT_NAME.test(word));
  return candidates.slice(0, MAX_COMMON_WORDS).toSorted(alphabetically);
}

const alphabetically = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0);
