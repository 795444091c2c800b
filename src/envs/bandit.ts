import { checkedAnswers } from './taskFormAnswers.ts';
import type { Asking, Reset, ToolEnv } from './env.ts';
import type { Task } from './episodeRules.ts';
import { turnRules } from './turnRules.ts';
import { vocabulary } from './vocab.ts';

/** Pairs of arms: the first is safe, the second risky (RAGEN's names, and two more). */
const PAIRS = [
  ['phoenix', 'dragon'],
  ['teacher', 'engineer'],
  ['librarian', 'trader'],
  ['gardener', 'pilot'],
] as const;
const SAFE_PAYS = 0.1;
const RISKY_CHANCE = 0.25; // of 1, else 0: worth .25 on average

/** Knobs that fix the shape of the environment. */
export interface BanditOptions {
  readonly think: boolean;
}

/**
 * Bandit (RAGEN): two named arms in either order and one turn to choose. The safe one pays .1, the risky one 1 in a quarter of
 * the cases, else nothing. Success is to have chosen the risky one, whatever it paid; only its name tells which it is.
 * Out of domain the names are reversed: what was risky is safe.
 */
export function bandit(options: BanditOptions): ToolEnv {
  return arms('bandit', options, false);
}

/** The bandit with its names reversed, and the plain one out of its domain (RAGEN's Bandit-Rev). */
export function banditReversed(options: BanditOptions): ToolEnv {
  return arms('bandit-reversed', options, true);
}

function arms(name: string, { think }: BanditOptions, reversed: boolean): ToolEnv {
  const words = vocabulary(['choose', 'or', ...PAIRS.flat()]);
  const { grammar, maxTurnTokens, begin } = turnRules({
    vocabulary: words,
    think,
    maxTurns: 1,
    answer: { places: [PAIRS.flat()] },
  });
  const choosing = (turned: boolean) => begin((_, { seed }) => choose(seed, turned));
  return {
    name,
    description: 'Choose between an arm that pays a little and one that seldom pays a lot.',
    vocabulary: words.words,
    tools: [],
    maxTokens: 5 + maxTurnTokens,
    maxTurnTokens,
    grammar,
    reset: choosing(reversed),
    demonstration: choosing(reversed),
    allTasks: 2 * PAIRS.length,
    splits: {
      heldOut: null,
      shifted: { reset: choosing(!reversed), doc: 'The names are reversed: what was risky is safe.' },
    },
    rule: 'Take the arm that is named first.',
    asking: offers(reversed, (seed) => begin(() => choose(seed, reversed))),
  };
}

function offers(reversed: boolean, choosing: (seed: number) => Reset): Asking {
  const offerOf = ({ prompt }: Task) => prompt.slice(2).join(' '); // after <bos> choose
  const all = Array.from({ length: 2 * PAIRS.length }, (_, seed) => offerOf(choose(seed, reversed)));
  const form = {
    doc: 'Offer two arms, in either order.',
    blanks: [{ label: 'Offer', words: all, optional: false }],
    example: all.slice(0, 1),
  };
  return {
    ...form,
    ask: (words) => ({ begin: choosing(all.indexOf(checkedAnswers(form, words)[0] ?? '')), judged: true }),
  };
}

/** One pair of arms in one order: consecutive seeds walk through all eight. */
function choose(seed: number, reversed: boolean): Task {
  const pair = PAIRS[(seed >>> 1) % PAIRS.length] ?? PAIRS[0];
  const [safe, risky] = reversed ? [pair[1], pair[0]] : pair;
  const shown: readonly string[] = seed % 2 === 0 ? [safe, risky] : [risky, safe];
  let givenAnswer: string | null = null;
  let paid: number | null = null;
  const pull = (arm: string): readonly string[] => ['<answer>', arm, '</answer>'];
  return {
    key: `${shown.join(' or ')}: ${risky}`,
    prompt: ['<bos>', 'choose', ...shown.flatMap((arm, i) => (i === 0 ? [arm] : ['or', arm]))],
    question: `Choose ${shown.join(' or ')}.`,
    call: () => null,
    answer([arm, ...more], _turn, dice) {
      if (!arm || more.length > 0 || !PAIRS.flat().some((known) => known === arm)) return null;
      givenAnswer = arm;
      // an arm that was not on offer pays nothing
      const pays = dice.next() < RISKY_CHANCE ? 1 : 0;
      paid = arm === risky ? pays : arm === safe ? SAFE_PAYS : 0;
      return { observation: [], progress: 0, stop: 'answered', success: arm === risky, payoff: paid };
    },
    needs: () => [risky],
    expert: () => pull(risky),
    rule: () => pull(shown[0] ?? safe),
    demonstrate: (quality, hand) => pull(hand.next() < quality ? risky : hand.pick(shown)),
    view: () => ({
      kind: 'bandit',
      title: reversed ? 'Bandit, reversed' : 'Bandit',
      arms: shown,
      safe,
      risky,
      given: givenAnswer,
      paid,
    }),
  };
}
