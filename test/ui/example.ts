import type { BatchView } from '../../src/domain/batch.ts';
import type { EnvView } from '../../src/domain/envView.ts';
import type { EpisodeView, RewardPart } from '../../src/domain/episode.ts';
import { Role } from '../../src/domain/tokens.ts';

/** Words of the example, as the number hunt has them. */
export const exampleVocabulary = [
  ...['<pad>', '<bos>', '<think>', '</think>', '<call>', '</call>', '<obs>', '</obs>', '<answer>', '</answer>'],
  ...['error', 'none', 'find', 'higher', 'lower', 'found'],
  ...Array.from({ length: 16 }, (_, n) => String(n)),
];

const TARGET = 11;
const RANGE = 16;
const HUNTS = [
  [7, 12, 9, 11],
  [8, 12, 10, 11],
  [3, 14, 5, 9],
  [7, 11],
  [15, 0, 13, 6],
  [12, 4, 8, 10],
  [9, 13, 11],
  [5, 5, 14, 2],
];
const LENGTH = 26;
const NOTHING: Readonly<Record<RewardPart, number>> = {
  outcome: 0,
  process: 0,
  call: 0,
  format: 0,
  think: 0,
  turnCost: 0,
  preference: 0,
  information: 0,
};

/** A hand-made group of eight number hunts, as a batch. */
export const example: BatchView = makeExample();

function makeExample(): BatchView {
  const size = HUNTS.length * LENGTH;
  const rewards = HUNTS.map((guesses) => (guesses.includes(TARGET) ? 1 : 0));
  const mean = rewards.reduce<number>((sum, r) => sum + r, 0) / rewards.length;
  const std = Math.sqrt(rewards.reduce<number>((sum, r) => sum + (r - mean) ** 2, 0) / (rewards.length - 1));
  const batch = {
    update: 0,
    rows: HUNTS.length,
    length: LENGTH,
    tokens: new Int32Array(size),
    roles: new Uint8Array(size),
    states: new Uint8Array(size),
    singles: new Uint8Array(size),
    turns: new Uint8Array(size),
    lengths: new Int32Array(HUNTS.length),
    sampledLogprobs: new Float32Array(size),
    logprobs: new Float32Array(size),
    entropies: new Float32Array(size),
    values: new Float32Array(size),
    rewards: new Float32Array(size),
    advantages: new Float32Array(size),
    returns: new Float32Array(size),
    lossMask: new Float32Array(size),
    gradWeights: new Float32Array(size),
    parts: { outcome: new Float32Array(size) },
    refLogprobs: new Float32Array(size),
    advantageMask: new Float32Array(size),
    policyWeights: new Float32Array(size),
    kept: new Uint8Array(HUNTS.length).fill(1),
  };
  const episodes = HUNTS.map((guesses, row): EpisodeView => {
    const reward = rewards[row] ?? 0;
    const advantage = (reward - mean) / (std + 1e-6);
    let t = 0;
    const write = (word: string, role: number, turn: number) => {
      const i = row * LENGTH + t++;
      batch.tokens[i] = exampleVocabulary.indexOf(word);
      batch.roles[i] = role;
      batch.turns[i] = turn;
      if (role !== Role.action) return i;
      // a digit is a real decision, a tag under the grammar mask is none
      const digit = !word.startsWith('<');
      batch.entropies[i] = digit ? 2.6 - 0.35 * turn : 0;
      batch.logprobs[i] = digit ? -2.4 + 0.4 * turn - 0.07 * row : 0;
      batch.sampledLogprobs[i] = batch.logprobs[i] ?? 0;
      batch.refLogprobs[i] = batch.logprobs[i] ?? 0;
      batch.advantages[i] = advantage;
      batch.lossMask[i] = 1;
      batch.advantageMask[i] = 1;
      batch.gradWeights[i] = -advantage / 96;
      batch.policyWeights[i] = -advantage / 96;
      return i;
    };
    write('<bos>', Role.prompt, 0);
    write('find', Role.prompt, 0);
    let last = 0;
    guesses.forEach((guess, g) => {
      for (const word of ['<call>', String(guess), '</call>']) last = write(word, Role.action, g + 1);
      if (guess === TARGET || g === guesses.length - 1) return;
      for (const word of ['<obs>', compare(guess), '</obs>']) write(word, Role.observation, g + 1);
    });
    batch.rewards[last] = reward;
    batch.parts.outcome[last] = reward;
    batch.lengths[row] = t;
    return {
      row,
      group: 0,
      ...{ seed: 0, environmentSeed: 0 }, // nobody drew it
      question: `Find the number from 0 to ${RANGE - 1}.`,
      names: new Map(),
      scores: null,
      reward,
      parts: { ...NOTHING, outcome: reward },
      preferenceScore: null,
      success: reward > 0,
      stop: reward > 0 ? 'found' : 'turns',
      turns: guesses.length,
      toolCalls: guesses.length,
      invalidTurns: 0,
      waited: 0,
      view: numberLine(guesses),
    };
  });
  return { ...batch, episodes };
}

function compare(guess: number): 'higher' | 'lower' | 'found' {
  if (guess === TARGET) return 'found';
  return guess < TARGET ? 'higher' : 'lower';
}

function numberLine(guesses: readonly number[]): EnvView {
  return {
    kind: 'number-line',
    range: RANGE,
    target: TARGET,
    guesses: guesses.map((value, g) => ({ turn: g + 1, value, answer: compare(value) })),
  };
}
