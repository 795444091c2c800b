import type { Random } from '../base/rng.ts';
import type { Grammar } from '../domain/tokens.ts';
import { emptyEntitySlots, entitySlotWords, NO_SLOT_WORD } from '../envs/entitySlots.ts';
import { buildGrammar, unmaskedGrammar, type GrammarState, THINK_WORDS, turnStates } from '../envs/grammar.ts';
import { type TurnCodec, tagCodec } from '../envs/turnCodec.ts';
import { ERROR_WORD, FAILURE_WORD, buildVocabulary } from '../envs/vocab.ts';
import type { ClassSettings } from './classSettings.ts';
import type { Declaration } from './script/declaration.ts';
import { answersOf, type MeasuredTexts } from './measuredTexts.ts';
import type { MoveLanguage } from './moveLanguage.ts';
import { readText } from './observing.ts';
import { argumentProblem, type Move, type Play } from './plays.ts';
import { parameterName, type ToolFace, valueSchemaOf, typesOf, type ValueSchema } from '../text/toolSchema.ts';
import { textWords, valueWords, wordsValue, DEFAULT } from './valueWords.ts';
import { isTag } from '../text/tags.ts';

/** An argument of a call: the words that it may have, and the largest number of words. */
interface CallArgument {
  readonly name: string;
  readonly schema: ValueSchema;
  readonly words: readonly string[];
  readonly fromSchema: boolean; // true: the words come from the tool's schema, not from moves of a player
  readonly maxWords: number;
}

/** Limits on the words of one argument. Each word needs a state of the grammar. */
const MAX_ARGUMENT_WORDS = 8;
const MAX_LIST_WORDS = 16;

/**
 * The arguments of a tool's calls. An argument may have its choices; without choices, the words that it had in `moves`;
 * and if no move calls the tool, a few words.
 */
function callArguments({ name: tool, parameters }: ToolFace, moves: readonly Move[]): readonly CallArgument[] {
  return parameters.map((parameter): CallArgument => {
    const name = parameterName(parameter);
    const schema = valueSchemaOf(parameter);
    const isOptional = typeof parameter === 'object' && parameter.optional === true;
    const types = typesOf(schema) ?? ['string'];
    const callValues = moves.flatMap((move) => ('tool' in move && move.tool === tool ? [move.values[name]] : []));
    const allValues = schema.enum ?? (schema.type === 'boolean' ? [true, false] : null);
    const valuesIfNeverCalled = WORDS_IF_NEVER_CALLED[types.includes('string') ? 'string' : 'number'];
    const schemaValues = allValues ?? (callValues.length > 0 ? null : valuesIfNeverCalled);
    const nullValues = allValues && schema.nullable ? [null] : [];
    const valueWordLists = [...(schemaValues ?? callValues), ...nullValues].map((value) => valueWords(value, schema));
    return {
      ...{ name, schema, fromSchema: schemaValues !== null },
      words: [...new Set([...valueWordLists.flat(), ...(isOptional && schemaValues ? [DEFAULT] : [])])],
      maxWords: Math.min(
        types.includes('array') ? MAX_LIST_WORDS : MAX_ARGUMENT_WORDS,
        valueWordLists.reduce((longest, { length }) => Math.max(longest, length), 1),
      ),
    };
  });
}

/**
 * True if an argument must be followed by an end mark, because it may have several words and another argument follows.
 */
function needsEndMark(callArguments: readonly CallArgument[], at: number): boolean {
  return at < callArguments.length - 1 && (callArguments[at]?.maxWords ?? 1) > 1;
}

/**
 * Words for an argument of a tool that no player called. There have to be some, so that the agent can make the call.
 */
const WORDS_IF_NEVER_CALLED = { string: ['?'], number: [0, 1, 2, 3, 4, 5, 6, 7, 8, 9] } as const;

/** The turns of an agent for which every word is a token (`language=words`), in a person's environment. */
export interface WordTurns {
  readonly vocabulary: readonly string[];
  readonly turnCodec: TurnCodec;
  readonly grammar: (on: boolean) => Grammar;
  readonly grammarState: (grammarOn: boolean) => number; // the grammar state in which every turn begins
  readonly maxTurnTokens: number;
  readonly maxTokens: number;
  readonly countTokens: (text: string) => number; // the number of tokens that a text takes
  /** Cuts a tool's answer to as many words as the longest measured answer had. */
  readonly shorten: (text: string) => string;
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
 * argument takes only its choices, or without choices the words that the expert (if there is none, a random player)
 * used for it in some task, and slots if one of them is rare.
 */
export function wordTurns(
  declaration: Declaration,
  measured: MeasuredTexts,
  { maxTurns }: ClassSettings,
  think: boolean,
): WordTurns {
  const { tools } = declaration;
  const { plays, examplePlays, moves } = measured;
  const commonSet: ReadonlySet<string> = new Set([...commonWords(measured, tools), ERROR_WORD, FAILURE_WORD]);
  const rareWordCount = (play: Play) => new Set(textWordsOf(play).filter((word) => !commonSet.has(word))).size;
  const slotsPerKind = Math.max(1, Math.ceil(SLOT_RESERVE * maxOf(plays.map(rareWordCount))));
  const slots = entitySlotWords({ name: slotsPerKind, number: slotsPerKind, word: slotsPerKind });
  const slotList = Object.values(slots).flat();
  const specialWords = [ERROR_WORD, FAILURE_WORD, NO_SLOT_WORD, NEXT_ARGUMENT, ...slotList];
  const vocabulary = buildVocabulary([
    ...[...commonSet].filter((word) => !specialWords.includes(word)),
    ...specialWords.slice(2),
  ]);

  const argumentsByTool = new Map(tools.map((tool) => [tool.name, callArguments(tool, moves)]));
  const answerArgument = canAnswer(declaration, examplePlays, maxTurns) ? answerArgumentOf(moves) : null;
  const longestCall = maxOf(
    [...argumentsByTool.values()].map(
      (list) => 1 + list.reduce((sum, place, at) => sum + place.maxWords + (needsEndMark(list, at) ? 1 : 0), 0),
    ),
  );
  const maxTurnTokens = 2 + Math.max(longestCall, answerArgument?.maxWords ?? 0) + (think ? THINK_WORDS + 2 : 0);
  const longestObservation = Math.max(1, maxOf(plays.flatMap(answersOf).map((text) => textWords(text).length)));
  const longestPrompt = maxOf(plays.map(({ prompt }) => textWords(prompt).length));
  const firstEdges = [
    ...(tools.length > 0 ? [[[vocabulary.id('<call>')], 'call'] as const] : []),
    ...(answerArgument ? [[[vocabulary.id('<answer>')], 'answer 0'] as const] : []),
  ];
  const maskedGrammar = buildGrammar(vocabulary.words.length, [
    ...turnStates('turn', firstEdges, vocabulary, think),
    { name: 'call', edges: tools.map(({ name }) => [[vocabulary.id(name)], `${name} 0 0`] as const) },
    ...[...argumentsByTool].flatMap(([tool, list]) => callStates(tool, list)),
    ...(answerArgument ? wordStates('answer', answerArgument, vocabulary.id('</answer>'), 'end') : []),
    { name: 'end', stop: true, edges: [] },
  ]);
  const unmasked = unmaskedGrammar(vocabulary);

  return {
    vocabulary: vocabulary.words,
    turnCodec: tagCodec(vocabulary, think),
    grammar: (on) => (on ? maskedGrammar : unmasked).grammar,
    grammarState: (on) => (on ? maskedGrammar : unmasked).state('turn'),
    maxTurnTokens,
    maxTokens: 1 + longestPrompt + maxTurns * maxTurnTokens + (maxTurns - 1) * (2 + longestObservation),
    countTokens: (text) => textWords(text).length,
    shorten: (text) => {
      const words = textWords(text);
      return words.length <= longestObservation ? text : words.slice(0, longestObservation).join(' ');
    },
    language,
  };

  /** The token ids that an argument may have. They include slots if the expert used a rare word for it in any task. */
  function legalIds({ words: placeWords }: CallArgument): readonly number[] {
    const common = placeWords.filter((word) => commonSet.has(word));
    return vocabulary.ids([...common, ...(common.length < placeWords.length ? slotList : [])]);
  }

  /** True if an argument may have this word or slot. */
  function isLegal(word: string, { words: placeWords }: CallArgument): boolean {
    if (word === NO_SLOT_WORD) return false;
    return commonSet.has(word) ? placeWords.includes(word) : placeWords.some((each) => !commonSet.has(each));
  }

  /** The grammar states `tool i n`: n words of argument i have been written. */
  function callStates(tool: string, list: readonly CallArgument[]): readonly GrammarState[] {
    const close = vocabulary.id('</call>');
    if (list.length === 0) return [{ name: `${tool} 0 0`, edges: [[[close], 'end']] }];
    return list.flatMap((place, at): readonly GrammarState[] => {
      const next = `${tool} ${at + 1} 0`;
      if (at === list.length - 1) return wordStates(`${tool} ${at}`, place, close, 'end');
      if (needsEndMark(list, at)) return wordStates(`${tool} ${at}`, place, vocabulary.id(NEXT_ARGUMENT), next);
      return [{ name: `${tool} ${at} 0`, edges: [[legalIds(place), next]] }];
    });
  }

  /**
   * The grammar states of one argument, which takes up to `place.maxWords` words. The token `close` leads to the
   * state `to`.
   */
  function wordStates(name: string, place: CallArgument, close: number, to: string): readonly GrammarState[] {
    return Array.from({ length: place.maxWords + 1 }, (_, count): GrammarState => ({
      name: `${name} ${count}`,
      edges: [
        ...(count > 0 ? [[[close], to] as const] : []),
        ...(count < place.maxWords ? [[legalIds(place), `${name} ${count + 1}`] as const] : []),
      ],
    }));
  }

  function language(draw: Random): MoveLanguage {
    const episodeSlots = emptyEntitySlots(commonSet, slots, draw, (word) => word);
    const anyCall = moves.find((move) => 'tool' in move);
    // A player may use words that did not occur in the measured tasks, or more rare words than there are slots. The
    // agent can't write these, so the demonstration gets a word that the agent can write.
    const writtenValue = (value: unknown, place: CallArgument) => {
      const valueTokens = episodeSlots.encode(valueWords(value, place.schema)).slice(0, place.maxWords);
      if (valueTokens.every((word) => isLegal(word, place))) return valueTokens;
      const writable = place.words.filter((word) => commonSet.has(word));
      return (writable.length > 0 ? writable : [...episodeSlots.names.keys(), ...slotList]).slice(0, 1);
    };
    return {
      names: episodeSlots.names,
      prompt: (text) => ['<bos>', ...episodeSlots.encode(textWords(text)).slice(0, longestPrompt)],
      observation: (text) => episodeSlots.encode(textWords(text)),
      turn: (move) => {
        // if the agent can't answer in text, even a player without a next move has to make a call
        const writableMove = 'answer' in move && !answerArgument && anyCall ? anyCall : move;
        if ('answer' in writableMove)
          return [
            '<answer>',
            ...(answerArgument ? writtenValue(writableMove.answer, answerArgument) : []),
            '</answer>',
          ];
        const toolArguments = argumentsByTool.get(writableMove.tool) ?? [];
        const values = toolArguments.flatMap((place, at) => [
          ...writtenValue(writableMove.values[place.name], place),
          ...(needsEndMark(toolArguments, at) ? [NEXT_ARGUMENT] : []),
        ]);
        return ['<call>', writableMove.tool, ...values, '</call>'];
      },
      call: ([name, ...callWords]) => {
        const tool = tools.find((one) => one.name === name);
        const calledArguments = tool && argumentsByTool.get(tool.name);
        if (!tool || !calledArguments) return null;
        const values: Record<string, unknown> = {};
        let start = 0;
        for (const [at, place] of calledArguments.entries()) {
          const hasEndMark = needsEndMark(calledArguments, at);
          const end =
            at === calledArguments.length - 1
              ? callWords.length
              : hasEndMark
                ? callWords.indexOf(NEXT_ARGUMENT, start)
                : start + 1;
          const read = end > start ? episodeSlots.decode(callWords.slice(start, end)) : [];
          // no words, or a slot without a word in this episode
          if (read.length === 0 || read.length < end - start) return null;
          const value = wordsValue(read, place.schema);
          if (value !== undefined) values[place.name] = value;
          start = end + (hasEndMark ? 1 : 0);
        }
        return start < callWords.length || argumentProblem(tool, values) !== null ? null : { tool: tool.name, values };
      },
      answer: (callWords) => String(wordsValue(episodeSlots.decode(callWords), { type: 'string' })),
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

function answerArgumentOf(moves: MeasuredTexts['moves']): CallArgument {
  const answers = moves.flatMap((move) => ('answer' in move ? [valueWords(move.answer)] : []));
  return {
    name: 'answer',
    schema: { type: 'string' },
    fromSchema: false,
    words: [...new Set(['?', ...answers.flat()])],
    maxWords: Math.max(1, maxOf(answers.map(({ length }) => length))),
  };
}

const textWordsOf = (play: Play) => [play.prompt, ...answersOf(play)].flatMap(textWords);
const maxOf = (counts: readonly number[]) => counts.reduce((sum, count) => Math.max(sum, count), 0);

/** Limit on the words of an environment that get a token. Each one makes the embedding and the softmax larger. */
const MAX_COMMON_WORDS = 400;
/** Share of the measured episodes in which a word must occur to get a token of its own. */
const MIN_SHARE = 0.01;
const SLOT_NAME = /^(?:name|number|word)\d+$/;

/**
 * The words of an environment that are tokens of their own, sorted. They are the words of its tools, words in arguments
 * that the player had not read before, and words that occur in at least 1 % of the measured episodes. If there are too
 * many, the least frequent of the latter are left out first.
 */
function commonWords({ plays, examplePlays, moves }: MeasuredTexts, tools: readonly ToolFace[]): readonly string[] {
  const needed = new Set([
    ...tools.map(({ name }) => name),
    ...tools.flatMap((tool) =>
      callArguments(tool, moves).flatMap(({ words, fromSchema }) => (fromSchema ? words : [])),
    ),
    '?',
  ]);
  const counts = new Map<string, number>();
  const count = (words: Iterable<string>) => {
    for (const word of new Set(words)) counts.set(word, (counts.get(word) ?? 0) + 1);
  };
  for (const play of plays) count([play.prompt, ...answersOf(play)].flatMap(textWords));
  for (const { prompt, moves: playerMoves, replies } of examplePlays) {
    const wordsRead = new Set(textWords(prompt));
    for (const [turn, move] of playerMoves.entries()) {
      for (const word of moveWords(move, tools)) if (!wordsRead.has(word)) needed.add(word);
      for (const word of textWords(readText(replies[turn] ?? {}))) wordsRead.add(word);
    }
  }
  const minCount = MIN_SHARE * plays.length;
  const commonEnough = [...counts].filter(([word, times]) => times >= minCount && !needed.has(word));
  const frequent = commonEnough.toSorted(([a, m], [b, n]) => n - m || alphabetically(a, b)).map(([word]) => word);
  const candidates = [...needed, ...frequent].filter((word) => !isTag(word) && !SLOT_NAME.test(word));
  return candidates.slice(0, MAX_COMMON_WORDS).toSorted(alphabetically);
}

/** The words of a move's arguments, or of its answer. */
function moveWords(move: Move, tools: readonly ToolFace[]): readonly string[] {
  if ('answer' in move) return valueWords(move.answer);
  const parameters = tools.find(({ name }) => name === move.tool)?.parameters ?? [];
  return parameters.flatMap((parameter) => valueWords(move.values[parameterName(parameter)], valueSchemaOf(parameter)));
}

const alphabetically = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0);
