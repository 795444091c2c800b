import { checkedAnswers } from '../domain/taskForm.ts';
import type { TaskForm, Reset, ToolEnv } from './env.ts';
import type { Task } from './episodeRules.ts';
import { buildTurns } from './turnRules.ts';
import { buildVocabulary } from './vocab.ts';

/** Pairs of arms: the first is safe, the second risky. Two pairs are RAGEN's. */
const PAIRS = [
  ['phoenix', 'dragon'],
  ['teacher', 'engineer'],
  ['librarian', 'trader'],
  ['gardener', 'pilot'],
] as const;
const SAFE_REWARD = 0.1;
const RISKY_WIN_PROBABILITY = 0.25; // the reward is then 1, otherwise 0: .25 on average

export interface BanditOptions {
  readonly think: boolean;
}

/**
 * Bandit (RAGEN): two named arms in either order and one turn to choose. The safe arm pays .1. The risky one pays 1 in
 * a quarter of the cases, otherwise nothing. Success means choosing the risky arm, whatever it paid; only its name
 * tells which it is. In shifted tasks the names are reversed: the risky names are safe.
 */
export function bandit(options: BanditOptions): ToolEnv {
  return banditEnv('bandit', options, false);
}

/** The bandit with its names reversed (RAGEN's Bandit-Rev). Its shifted tasks are those of the plain bandit. */
export function banditReversed(options: BanditOptions): ToolEnv {
  return banditEnv('bandit-reversed', options, true);
}

function banditEnv(name: string, { think }: BanditOptions, reversed: boolean): ToolEnv {
  const vocabulary = buildVocabulary(['choose', 'or', ...PAIRS.flat()]);
  const { grammar, maxTurnTokens, makeReset } = buildTurns({
    vocabulary,
    think,
    maxTurns: 1,
    answer: { legalWords: [PAIRS.flat()] },
  });
  const choiceTasks = (isReversed: boolean) => makeReset((_, { seed }) => choiceTask(seed, isReversed));
  return {
    name,
    description: 'Choose between an arm that pays a little and one that seldom pays a lot.',
    vocabulary: vocabulary.words,
    tools: [],
    maxTokens: 5 + maxTurnTokens,
    maxTurnTokens,
    grammar,
    reset: choiceTasks(reversed),
    demonstration: choiceTasks(reversed),
    taskCount: 2 * PAIRS.length,
    splits: {
      heldOut: null,
      shifted: { reset: choiceTasks(!reversed), doc: 'The names are reversed: what was risky is safe.' },
    },
    ruleDoc: 'Take the arm that is named first.',
    taskForm: offerForm(reversed, (seed) => makeReset(() => choiceTask(seed, reversed))),
  };
}

function offerForm(reversed: boolean, makeReset: (seed: number) => Reset): TaskForm {
  const offerOf = ({ prompt }: Task) => prompt.slice(2).join(' '); // after <bos> choose
  const offers = Array.from({ length: 2 * PAIRS.length }, (_, seed) => offerOf(choiceTask(seed, reversed)));
  const form = {
    doc: 'Offer two arms, in either order.',
    blanks: [{ label: 'Offer', words: offers, optional: false }],
    example: offers.slice(0, 1),
  };
  return {
    ...form,
    makeTask: (words) => ({
      reset: makeReset(offers.indexOf(checkedAnswers(form, words)[0] ?? '')),
      answerKnown: true,
    }),
  };
}

/** Makes the task of one pair of arms in one order. Consecutive seeds step through all eight. */
function choiceTask(seed: number, reversed: boolean): Task {
  const pair = PAIRS[(seed >>> 1) % PAIRS.length] ?? PAIRS[0];
  const [safe, risky] = reversed ? [pair[1], pair[0]] : pair;
  const offered: readonly string[] = seed % 2 === 0 ? [safe, risky] : [risky, safe];
  let givenAnswer: string | null = null;
  let paid: number | null = null;
  const pull = (arm: string): readonly string[] => ['<answer>', arm, '</answer>'];
  return {
    key: `${offered.join(' or ')}: ${risky}`,
    prompt: ['<bos>', 'choose', ...offered.flatMap((arm, i) => (i === 0 ? [arm] : ['or', arm]))],
    question: `Choose ${offered.join(' or ')}.`,
    call: () => null,
    answer([arm, ...extraWords], _turn, draw) {
      if (!arm || extraWords.length > 0 || !PAIRS.flat().some((known) => known === arm)) return null;
      givenAnswer = arm;
      // an arm that was not offered pays nothing
      const riskyReward = draw.next() < RISKY_WIN_PROBABILITY ? 1 : 0;
      paid = arm === risky ? riskyReward : arm === safe ? SAFE_REWARD : 0;
      return { observation: [], progress: 0, stop: 'answered', success: arm === risky, outcomeShare: paid };
    },
    neededWords: () => [risky],
    expert: () => pull(risky),
    rule: () => pull(offered[0] ?? safe),
    demonstrate: (quality, draw) => pull(draw.next() < quality ? risky : draw.pick(offered)),
    view: () => ({
      kind: 'bandit',
      title: reversed ? 'Bandit, reversed' : 'Bandit',
      arms: offered,
      safe,
      risky,
      given: givenAnswer,
      paid,
    }),
  };
}
