import { expect, test } from 'vitest';
import { Role } from '../src/domain/tokens.ts';
import { withTokens, type Passage as TextPassage } from '../src/domain/textSpans.ts';
import { firstTokens, tokenAt } from '../src/page/models/passageTokens.ts';
import { readTokens, textOf } from '../src/page/rollout/readRollout.ts';
import type { SpokenToken } from '../src/wire/speakerMessages.ts';

type Passage = TextPassage<SpokenToken>;

const token = (text: string, role: Role, turn: number, special = false): SpokenToken => ({
  ...{ id: 1, text, shown: text, special, role, turn, likely: null, logprob: null },
});
const own = (turn: number, ...texts: readonly string[]) => texts.map((text) => token(text, Role.action, turn));
const read = (passages: readonly Passage[]) =>
  passages.map(({ kind, blocks }) => [kind, blocks.map(({ tokens }) => tokens.map(({ text }) => text).join(''))]);

const TOKENS = [
  token('Hello.\n', Role.prompt, 0),
  ...own(1, '<', 'think', '>', 'hm\n', '</think>', '\n', 'So:\n', '<tool', '_call>', '\n', '{}\n', '</tool_call>'),
  token('<|im_end|>', Role.action, 1, true),
  token('user\n', Role.observation, 1),
  ...own(2, 'a < b', ' <tool_call> said'),
];

test('thoughts and calls are told apart by tags that begin a line, whole or in pieces; blocks end with lines', () => {
  expect(read(withTokens([], TOKENS))).toEqual([
    ['prompt', ['Hello.\n']],
    ['think', ['<think>hm\n', '</think>\n']],
    ['answer', ['So:\n']],
    ['call', ['<tool_call>\n', '{}\n', '</tool_call><|im_end|>']],
    ['observation', ['user\n']],
    ['answer', ['a < b <tool_call> said']],
  ]);
});

test('tokens that come one by one read as all at once; those before stay the same objects', () => {
  let passages: readonly Passage[] = [];
  for (const each of TOKENS) passages = withTokens(passages, [each]);
  const whole = withTokens([], TOKENS);
  expect(passages).toEqual(whole);
  const longer = withTokens(whole, own(2, '!'));
  expect(longer.slice(0, -1).every((passage, i) => passage === whole[i])).toBe(true);
});

test('what is cut off is gone, and a token is found by its place', () => {
  const passages = withTokens([], TOKENS);
  const cut = firstTokens(passages, 4);
  expect(read(cut)).toEqual([
    ['prompt', ['Hello.\n']],
    ['think', ['<think>']],
  ]);
  expect(tokenAt(passages, 8)).toBe(TOKENS[8]);
  expect(tokenAt(cut, 4)).toBeUndefined();
  expect(firstTokens(passages, TOKENS.length)).toEqual(passages);
  expect(firstTokens(passages, 0)).toEqual([]);
});

test('a rollout of text is joined without blanks, its turns calls where one stands in them', () => {
  const vocabulary = ['!', 'Go', '␣on', '<tool_call>', '{}', '⏎'];
  const { words, writing, kinds } = readTokens(
    {
      tokens: Int32Array.of(1, 2, 3, 4, 5, 1, 2),
      roles: Uint8Array.of(1, 1, 2, 2, 3, 2, 2),
      turns: Uint8Array.of(0, 0, 1, 1, 1, 2, 2),
      names: undefined,
    },
    vocabulary,
  );
  expect(writing).toBe('bytes');
  expect(textOf({ words, writing }, [0, 1])).toBe('Go on');
  expect(kinds).toEqual(['prompt', 'prompt', 'call', 'call', 'observation', 'answer', 'answer']);
});
