import { beforeAll, expect, test } from 'vitest';
import { parseConfig } from '../../src/config/config.ts';
import type { BatchView } from '../../src/domain/batch.ts';
import { Role } from '../../src/domain/tokens.ts';
import { presetConfig } from '../../src/page/knobs/configStore.ts';
import { exerciseNamed } from '../../src/page/learn/chapters.ts';
import { CHAPTER_TEXTS } from '../../src/page/learn/chapterTexts.ts';
import type { ArmResult } from '../../src/page/learn/exercise.ts';
import { equationWith } from '../../src/page/rollout/advantage.ts';
import { openSession } from '../../src/session/session.ts';
import { creditOf } from '../rl/worked.ts';
import { shippingHost } from '../shippingHost.ts';

const found = (id: string, arm: ArmResult) => exerciseNamed('rows', id)!.findingOf([arm]);
const withBatch = (changes: Partial<BatchView>): ArmResult => ({ ...drawn, batch: { ...drawn.batch, ...changes } });

/** The first batch of the only arm of an exercise, and its knobs. */
async function firstBatch(chapter: string, id: string): Promise<ArmResult & { readonly batch: BatchView }> {
  const { arms } = exerciseNamed(chapter, id)!;
  const [{ preset, set }] = [arms[0]!];
  const config = parseConfig({ ...presetConfig(preset), ...set, backend: 'cpu' });
  const session = await openSession(config, shippingHost, () => undefined);
  for await (const event of session.events) {
    if (event.type !== 'batch') continue;
    session.dispose();
    return { batch: event.batch, config, curves: new Map() };
  }
  throw new Error('a run has a batch');
}

let drawn: ArmResult & { readonly batch: BatchView };
beforeAll(async () => {
  drawn = await firstBatch('rows', 'broadcast');
});

test('with turn credit the turns of a rollout differ and average to its score minus the group’s mean; moved by a little they don’t', async () => {
  const { findingOf } = exerciseNamed('credit', 'progress')!;
  const arm = await firstBatch('credit', 'progress');
  const { answer, numbers } = findingOf([arm]);
  expect([answer, numbers['apart']]).toEqual(['same', 0]);
  expect(numbers['differing']).toBeGreaterThan(50); // of 128 rollouts
  const batch = { ...arm.batch, advantages: arm.batch.advantages.map((advantage) => advantage + 0.01) };
  const moved = findingOf([{ ...arm, batch }]);
  expect(moved.answer).toBe('another');
  expect(moved.numbers['apart']).toBeCloseTo(0.01, 4); // of float32 advantages
  expect(findingOf([]).answer).toBeNull();
});

test('information gain pays some turns of rollouts that fail; where nothing is paid the answer is none', async () => {
  const { findingOf } = exerciseNamed('process', 'information')!;
  const arm = await firstBatch('process', 'information');
  const { answer, numbers } = findingOf([arm]);
  expect(answer).toBe('some');
  expect(numbers['paid']).toBeGreaterThan(numbers['failed']! / 2);
  const parts = { ...arm.batch.parts, information: new Float32Array(arm.batch.rows * arm.batch.length) };
  expect(findingOf([{ ...arm, batch: { ...arm.batch, parts } }]).answer).toBe('none');
  expect(findingOf([{ ...arm, batch: { ...arm.batch, episodes: [] } }]).answer).toBeNull();
});

test('the arm of the chapter on rows draws the two episodes that its questions name', () => {
  expect(drawn.batch.episodes.map(({ turns, toolCalls, reward }) => [turns, toolCalls, reward])).toEqual([
    [3, 2, 1],
    [1, 0, 0],
  ]);
});

test('through the last row’s mask the trained tokens of all earlier turns would get 0', () => {
  const { roles, turns, length } = drawn.batch;
  const { answer, numbers } = found('broadcast', drawn);
  expect(answer).toBe('lost');
  expect(numbers).toMatchObject({ right: 0.5, bug: 0 });
  const drawnCount = (turn: number) => [...roles.slice(0, length)].filter((role, t) => role === Role.action && turns[t]! <= turn).length; // prettier-ignore
  expect([numbers['lost'], numbers['trained']]).toEqual([drawnCount(2), drawnCount(3)]);
  // a batch whose rows are whole episodes has one mask for all turns
  const { contextStarts: _, ...whole } = drawn.batch;
  expect(found('broadcast', { ...drawn, batch: whole }).answer).toBe('both');
  expect(found('broadcast', withBatch({ advantages: drawn.batch.advantages.map((a) => a / 3) })).answer).toBe('share');
});

test('with turns as members the mean and the advantage are those of credit() over one row for each turn', () => {
  const { answer, numbers } = found('members', drawn);
  expect([answer, numbers['mean'], numbers['right']]).toEqual(['higher', 0.5, 0.5]);
  // A's three turns and B's one as rows of one group, each with the score of its episode
  const rows = [1, 1, 1, 0].map(() => [Role.action]);
  const { advantages } = creditOf(
    rows,
    [1, 1, 1, 0],
    { estimator: 'grpo', divideByStd: false },
    { groups: [0, 0, 0, 0] },
  );
  expect(numbers['bug']).toBeCloseTo(advantages[0]!, 12); // rounding of a mean of four
  expect(numbers['biased']).toBeCloseTo(1 - advantages[0]!, 12);
});

test('nothing can be told of other episodes than the questions name', () => {
  const { episodes } = drawn.batch;
  const others = [
    episodes.slice(0, 1),
    [...episodes, ...episodes],
    episodes.map((each) => ({ ...each, turns: 2 })),
    episodes.map((each) => ({ ...each, reward: 1 })),
  ];
  for (const id of ['broadcast', 'members'])
    for (const drawnOthers of others) expect(found(id, withBatch({ episodes: drawnOthers })).answer).toBeNull();
});

test('the advantages that the chapter on advantages quotes for one success in eight are the page’s own', () => {
  const [success, ...failures] = [1, 0, 0, 0, 0, 0, 0, 0] as const;
  const of = (baseline: 'mean-over-mean' | 'mean-over-std') =>
    equationWith(baseline, [success, ...failures], success).value;
  const text = CHAPTER_TEXTS.advantage.text.join(' ');
  expect(text).toContain(
    `its advantage is ${of('mean-over-mean').toFixed(0)}, and with GRPO ${of('mean-over-std').toFixed(2)}.`,
  );
});
