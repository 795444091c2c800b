import { Purpose, random } from '../../src/base/rng.ts';
import type { BatchView } from '../../src/domain/batch.ts';
import { Role } from '../../src/domain/tokens.ts';
import { example } from './example.ts';

/** Pieces of a made-up tokenizer of bytes; what is drawn of them is no text. */
export const longVocabulary: readonly string[] = [
  ...['<|endoftext|>', '<tool_call>', '</tool_call>', '⏎', '{"', 'name', '":␣"', '"}', ',␣', '.'],
  ...[
    '␣the',
    '␣of',
    '␣found',
    '␣in',
    '␣which',
    '␣passage',
    'ing',
    'er',
    '␣no',
    '␣answer',
    '␣is',
    '␣after',
    '␣1',
    '9',
    '7',
  ],
];
const FIRST_WORD = 10;
const ROWS = 64;
const LENGTH = 1000;
const GROUP = 8;
const PROMPT = 180;
const TURN = 164;
const OBSERVATION = 60; // tokens at the end of a turn but the last

/** 64 rollouts of 1,000 tokens in five turns: a batch such as a run in text has, its numbers made up. */
export function longBatch(update: number): BatchView {
  const size = ROWS * LENGTH;
  const { next: draw } = random(7, Purpose.trainTask, update);
  const turns = Uint8Array.from({ length: size }, (_, i) =>
    i % LENGTH < PROMPT ? 0 : Math.ceil(((i % LENGTH) - PROMPT + 1) / TURN),
  );
  const inTurn = (i: number) => ((i % LENGTH) - PROMPT) % TURN;
  const roles = turns.map((turn, i) =>
    turn === 0 ? Role.prompt : turn < 5 && inTurn(i) >= TURN - OBSERVATION ? Role.observation : Role.action,
  );
  const tokens = Int32Array.from({ length: size }, (_, i) =>
    roles[i] === Role.action && (turns[i] ?? 5) < 5 && inTurn(i) === 0
      ? 1
      : i % 23 === 22
        ? 3
        : FIRST_WORD + Math.floor(draw() * (longVocabulary.length - FIRST_WORD)),
  );
  const own = (scale: number, from = 0) =>
    Float32Array.from({ length: size }, (_, i) => (roles[i] === Role.action ? from + scale * draw() : 0));
  const mask = Float32Array.from(roles, (role) => (role === Role.action ? 1 : 0));
  const logprobs = own(-3);
  return {
    ...{ update, rows: ROWS, length: LENGTH, tokens, roles, turns },
    ...{ states: new Uint8Array(size), singles: new Uint8Array(size), lengths: new Int32Array(ROWS).fill(LENGTH) },
    ...{ sampledLogprobs: logprobs.slice(), logprobs, entropies: own(2), values: own(1), returns: own(1) },
    ...{ rewards: Float32Array.from({ length: size }, (_, i) => (i % LENGTH === LENGTH - 1 ? 1 : 0)), parts: {} },
    ...{ refLogprobs: own(-3), advantages: own(4, -2), lossMask: mask, advantageMask: mask.slice() },
    ...{ gradWeights: own(0.01, -0.005), policyWeights: own(0.01, -0.005), kept: new Uint8Array(ROWS).fill(1) },
    episodes: Array.from({ length: ROWS }, (_, row) => {
      const [episode] = example.episodes;
      if (!episode) throw new Error('the example has no episodes');
      return { ...episode, row, group: Math.floor(row / GROUP) };
    }),
  };
}
