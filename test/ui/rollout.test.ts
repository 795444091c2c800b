import { expect, test } from 'vitest';
import { channelScale, channelValue } from '../../src/page/rollout/channels.ts';
import { example, exampleVocabulary } from './example.ts';
import { kindsOf } from '../../src/domain/tokenSpans.ts';
import { auditMask, groupStats, readRollout, textOf, turnsUpTo } from '../../src/page/rollout/readRollout.ts';
import { selectRow, useSelection } from '../../src/page/view/selectionStore.ts';
import { useLive } from '../../src/page/view/liveStore.ts';
import { stepBy } from '../../src/page/training/stepping.ts';
import { rowAnnotations } from '../../src/ui/tokens/rowAnnotations.tsx';

test('tags split the agent’s words into think, call and answer; forced closing tags are the environment’s', () => {
  const words = [
    '<bos>',
    'find',
    '<think>',
    'low',
    '</think>',
    '<call>',
    '7',
    '</call>',
    '<obs>',
    'higher',
    '</obs>',
    '<answer>',
    '9',
    '</answer>',
    '<pad>',
  ];
  const roles = Uint8Array.from([1, 1, 2, 2, 2, 2, 2, 2, 3, 3, 3, 2, 2, 2, 0]);
  expect(kindsOf(words, 'words', { roles, turns: roles })).toEqual([
    ...['prompt', 'prompt', 'think', 'think', 'think', 'call', 'call', 'call'],
    ...['observation', 'observation', 'observation', 'answer', 'answer', 'answer', null],
  ]);
});

test('a tag the agent prints itself stays the agent’s', () => {
  expect(kindsOf(['<obs>', 'higher'], 'words', { roles: [2, 2], turns: [1, 1] })).toEqual(['call', 'call']);
});

test('a row becomes turns of spans, every token once and in order', () => {
  const rollout = readRollout(example, exampleVocabulary, 0);
  expect(rollout.turns.map((t) => t.turn)).toEqual([0, 1, 2, 3, 4]);
  const tokens = rollout.turns.flatMap((t) => t.spans.flatMap((s) => s.tokens));
  expect(tokens).toEqual(Array.from({ length: example.lengths[0] ?? 0 }, (_, t) => t));
  expect(rollout.turns[1]?.spans.map((s) => s.kind)).toEqual(['call', 'observation']);
});

test('the first tokens of a rollout end inside a span, and what is not begun is not there', () => {
  const { turns, words } = readRollout(example, exampleVocabulary, 0);
  expect(readRollout(example, exampleVocabulary, 0).words).toBe(words); // read once for a batch and its vocabulary
  expect(readRollout(example, exampleVocabulary.map(String), 0).words).not.toBe(words);
  const tokens = (length: number) =>
    turnsUpTo(turns, length).map(({ spans }) => spans.map((span) => span.tokens.length));
  const [prompt] = tokens(Infinity)[0]!;
  expect(turnsUpTo(turns, words.length)).toEqual(turns);
  expect(turnsUpTo(turns, Infinity)).toEqual(turns);
  expect(tokens(prompt!)).toEqual([[prompt]]);
  expect(tokens(prompt! + 2)).toEqual([[prompt], [2]]);
  expect(tokens(prompt! + 4)).toEqual([[prompt], [3, 1]]); // <call> 7 </call> <obs>
});

test('words are apart by a blank as text, pieces of bytes by nothing', () => {
  const words = [' the', ' cap', 'ital', '.\n'];
  expect(textOf({ words, writing: 'bytes' }, [0, 1, 2, 3])).toBe(' the capital.\n');
  expect(textOf(readRollout(example, exampleVocabulary, 0), [0, 2, 3])).toMatch(/^<bos> <call> 7$/);
});

test('a span is not trained if its own row’s loss mask says so, and a prompt is not even told so', () => {
  const { length } = example;
  const batch = { ...example, lossMask: Float32Array.from(example.lossMask, (_, i) => (i < length ? 0 : 1)) };
  const hasNote = (row: number, kind: 'call' | 'prompt', tokens = [5, 6]) =>
    Boolean(rowAnnotations({ batch, row, length, stopText: null }).note?.({ kind, tokens }));
  expect([hasNote(0, 'call'), hasNote(1, 'call'), hasNote(0, 'prompt')]).toEqual([true, false, false]);
  batch.lossMask[length + 5] = 0; // one of the two is trained
  expect([hasNote(1, 'call'), hasNote(1, 'call', [5])]).toEqual([false, true]);
});

test('another rollout is shown whole, with nothing chosen in it', () => {
  const chosen = { row: 2, token: 7, turn: 1, revealed: 9, branch: 3 };
  useSelection.setState(chosen);
  selectRow(2);
  expect(useSelection.getState()).toMatchObject(chosen);
  selectRow(4);
  expect(useSelection.getState()).toMatchObject({ row: 4, token: null, turn: null, revealed: null, branch: null });
});

test('a step to another rollout leaves the branch in view', () => {
  useLive.setState({ batch: example });
  for (const scale of ['rollout', 'turn'] as const) {
    useSelection.setState({ row: 0, token: null, turn: null, revealed: 1e6, branch: 3 });
    stepBy(scale, 1);
    expect(useSelection.getState(), scale).toMatchObject({ row: 1, branch: null });
  }
});

test('the audit counts on the tensors', () => {
  const { trained, observations, observationsTrained } = auditMask(example);
  expect(trained).toBeGreaterThan(0);
  expect(observationsTrained).toBe(0);
  expect(
    auditMask({ ...example, lossMask: new Float32Array(example.lossMask.length).fill(1) }).observationsTrained,
  ).toBe(observations);
});

test('a group’s spread has n − 1 in the denominator', () => {
  expect(groupStats([1, 0, 1, 0]).mean).toBe(0.5);
  expect(groupStats([1, 0, 1, 0]).std).toBeCloseTo(Math.sqrt(1 / 3), 12);
  expect(groupStats([1])).toEqual({ mean: 1, std: 0 });
});

test('a channel says nothing of tokens it does not apply to, and they do not stretch its scale', () => {
  const advantages = example.advantages.slice();
  const outside = example.lossMask.indexOf(0);
  advantages[outside] = 1000;
  const batch = { ...example, advantages };
  expect(
    channelValue({ batch, config: null, row: 0, logprobsAroundUpdate: null }, 'advantage', outside),
  ).toBeUndefined();
  expect(channelScale({ batch, config: null, row: 0, logprobsAroundUpdate: null }, 'advantage')).toBeLessThan(2);
  advantages[example.lossMask.indexOf(1)] = NaN;
  expect(
    channelValue({ batch, config: null, row: 0, logprobsAroundUpdate: null }, 'advantage', example.lossMask.indexOf(1)),
  ).toBeUndefined();
});

test('the example says what the environment would: every guess is answered truly', () => {
  for (const { view } of example.episodes) {
    if (view.kind !== 'number-line') throw new Error('the example is a number hunt');
    for (const { value, answer } of view.guesses) {
      expect(answer).toBe(value === view.target ? 'found' : value < view.target ? 'higher' : 'lower');
    }
  }
});

test('a slot word is shown by the name it has in its episode, and a name that looks like a tag is still text', () => {
  const seven = exampleVocabulary.indexOf('7');
  const first = example.episodes[0]!;
  const named = new Map([[seven, '<answer>']]);
  const batch = { ...example, episodes: [{ ...first, names: named }, ...example.episodes.slice(1)] };
  const plain = readRollout(example, exampleVocabulary, 0);
  const told = readRollout(batch, exampleVocabulary, 0);
  const at = plain.words.indexOf('7');
  expect(told.words[at]).toBe('<answer>');
  expect(told.words.filter((_, t) => t !== at)).toEqual(plain.words.filter((_, t) => t !== at));
  expect(told.kinds).toEqual(plain.kinds);
  expect(told.tags).toEqual(plain.tags);
  expect(told.tags[at]).toBe(false);
  expect(plain.tags[at - 1]).toBe(true);
  // row 3 calls 7 too, and has no names
  expect(readRollout(batch, exampleVocabulary, 3).words).toEqual(readRollout(example, exampleVocabulary, 3).words);
});
