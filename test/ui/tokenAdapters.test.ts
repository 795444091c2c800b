import { expect, test } from 'vitest';
import { parseConfig } from '../../src/config/config.ts';
import type { BatchView, KeptBatch } from '../../src/domain/batch.ts';
import { withTokens } from '../../src/domain/textSpans.ts';
import { Role } from '../../src/domain/tokens.ts';
import type { Turn } from '../../src/domain/tokenSpans.ts';
import { ownFormat } from '../../src/rollouts/ownFormat.ts';
import type { RolloutRecord } from '../../src/rollouts/rolloutRecord.ts';
import { DEFAULT_PATTERN } from '../../src/rollouts/splitPattern.ts';
import { ownLines } from '../../src/rollouts/writeOwn.ts';
import { chatLooks, chatTurns } from '../../src/page/models/chatTurns.ts';
import { channelLooks } from '../../src/page/rollout/channelLooks.ts';
import { CHANNEL_NAMES, channelValue, type ChannelView } from '../../src/page/rollout/channels.ts';
import { readRollout, readTokens } from '../../src/page/rollout/readRollout.ts';
import { ownRollout } from '../../src/ui/rollouts/RecordView.tsx';
import { recordLooks, recordTurns } from '../../src/ui/rollouts/RecordTokens.tsx';
import type { SpokenToken } from '../../src/wire/speakerMessages.ts';
import { example, exampleVocabulary } from './example.ts';
import { longBatch, longVocabulary } from './longText.ts';

const ROW = 3;
const LONG = longBatch(1);
const config = parseConfig({ estimator: 'gae', critic: 'shared', klCoef: 0.1 });

/** A batch with a critic, a reference, rewards on the way and two passes, in which the clip held tokens. */
function whole(batch: BatchView): KeptBatch {
  const made = (scale: number) => batch.logprobs.map((value, i) => Math.fround((value - (i % 7)) * scale));
  const policyWeights = made(-0.2).map((value, i) => (i % 5 === 0 ? 0 : value));
  const shares = new Float32Array(batch.rows).fill(1 / 64);
  const passes = [1, 2].map((epoch) => ({ epoch, gradWeights: made(epoch), policyWeights, shares }));
  const rewards = batch.rewards.map((value, i) => (i % 11 === 0 ? -0.25 : value));
  const singles = batch.singles.map((_, i) => Number(i % 6 === 0));
  return {
    batch: { ...batch, values: made(0.3), returns: made(0.1), refLogprobs: made(1.1), policyWeights, epochViews: passes, rewards, singles }, // prettier-ignore
    config,
  };
}

const files = new Map<BatchView, readonly RolloutRecord[]>();

/** The rollouts of `whole(batch)` as they come back from their file, read once. */
function opened(batch: BatchView, vocabulary: readonly string[]): readonly RolloutRecord[] {
  const reading = { pattern: DEFAULT_PATTERN, wholeNumbers: new Set<string>() };
  const records =
    files.get(batch) ??
    ownLines(whole(batch), vocabulary).flatMap((line) =>
      ownFormat.read(JSON.parse(line) as Readonly<Record<string, unknown>>, reading),
    );
  files.set(batch, records);
  return records;
}

/** A row as a person plays it, and as a model of a chat says it. */
function played(batch: BatchView, row: number) {
  const [from, to] = [row * batch.length, row * batch.length + (batch.lengths[row] ?? 0)];
  const [tokens, roles, turns] = [batch.tokens, batch.roles, batch.turns].map((list) => list.slice(from, to));
  return { tokens: tokens as Int32Array, roles: roles as Uint8Array, turns: turns as Uint8Array };
}
function said(batch: BatchView, vocabulary: readonly string[], row: number): readonly SpokenToken[] {
  const { tokens, roles, turns } = played(batch, row);
  return Array.from(tokens, (id, t): SpokenToken => {
    const text = (vocabulary[id] ?? '').replaceAll('␣', ' ').replaceAll('⏎', '\n');
    const role = roles[t] as Role;
    return { id, text, shown: text, special: false, role, turn: turns[t] ?? 0, likely: role === 2 ? [] : null, logprob: role === 2 ? -3 : null }; // prettier-ignore
  });
}

/** A batch in each kind of language, with its vocabulary. */
const BATCHES = [
  ['words', example, exampleVocabulary],
  ['text', LONG, longVocabulary],
] as const;

const spans = (turns: readonly Turn[]) =>
  turns.flatMap(({ turn, spans: own }) => own.map(({ kind, tokens }) => ({ turn, kind, tokens })));

test.each(BATCHES)(
  'a rollout of %s has the same spans from a batch, from a played task and from its own file',
  (_, batch, vocabulary) => {
    const lab = readRollout(batch, vocabulary, ROW);
    expect(new Set(lab.kinds).size).toBeGreaterThan(2);
    const names = batch.episodes.find(({ row }) => row === ROW)?.names;
    const { row: __, ...rollout } = lab;
    expect(readTokens({ ...played(batch, ROW), names }, vocabulary)).toEqual(rollout);
    const record = opened(batch, vocabulary)[ROW]!;
    expect(ownRollout(record, record.batch!)).toEqual(rollout);
    expect(spans(recordTurns(record))).toEqual(spans(lab.turns));
  },
);

test('a rollout of text has the same spans as a chat, however its tokens come in; what was there stays the same', () => {
  const batch = LONG;
  const tokens = said(batch, longVocabulary, ROW);
  const chat = chatTurns(withTokens([], tokens));
  expect(spans(chat)).toEqual(spans(readRollout(batch, longVocabulary, ROW).turns));
  const before = withTokens([], tokens.slice(0, 300));
  const after = chatTurns(withTokens(before, tokens.slice(300)));
  expect(after).toEqual(chat);
  const kept = chatTurns(before);
  expect(after[0]).toBe(kept[0]);
  expect(kept.at(-1)!.spans[0]!.lines!.length).toBeGreaterThan(1);
  const last = kept.length - 1;
  expect(after[last]!.spans[0]!.lines![0]).toBe(kept[last]!.spans[0]!.lines![0]); // the line, though its span has grown
});

test.each(BATCHES)(
  'a rollout of %s opened from its own file looks as in the lab in every channel: numbers, masks, clipped tokens, colours',
  (_, batch, vocabulary) => {
    const kept = whole(batch);
    const records = opened(batch, vocabulary);
    const views = records.map((record): ChannelView => ({
      ...record.batch!,
      row: 0,
      logprobsAroundUpdate: null,
      isFromFile: true,
    }));
    const lab: ChannelView = { ...kept, row: ROW, logprobsAroundUpdate: null };
    const rollout = readRollout(kept.batch, vocabulary, ROW);
    const inLab = channelLooks(rollout, lab);
    const inFile = channelLooks(
      ownRollout(records[ROW]!, records[ROW]!.batch!),
      views[ROW]!,
      views.filter((__, row) => row !== ROW),
    );
    for (const channel of CHANNEL_NAMES) {
      expect(inFile.scale(channel), channel).toBeCloseTo(inLab.scale(channel), 6);
      const looks = (of: typeof inLab) => rollout.words.map((__, t) => of.lookOf(channel)(t));
      expect(looks(inFile), channel).toEqual(looks(inLab));
      const said = rollout.words.filter(
        (__, t) => channelValue(lab, channel, ROW * kept.batch.length + t) !== undefined,
      );
      // all but the mask, which has no numbers, and the two that ask the weights of the run
      expect(said.length > 0, channel).toBe(!['mask', 'ratio', 'change'].includes(channel));
    }
    const clipped = rollout.words.filter((__, t) => inFile.lookOf('gradient')(t).clipped);
    expect(clipped.length).toBeGreaterThan(0);
  },
);

test('a token that drifted is marked in every channel, and says so in its name and why in its title', () => {
  const [[, batch, vocabulary]] = BATCHES;
  const kept = whole(batch);
  const own = kept.batch.roles.indexOf(Role.action);
  const drifted = Uint8Array.from(kept.batch.roles, (_, i) => (i === own ? 1 : 0));
  const view: ChannelView = { ...kept, batch: { ...kept.batch, drifted }, row: 0, logprobsAroundUpdate: null };
  const { lookOf } = channelLooks(readRollout(view.batch, vocabulary, 0), view);
  for (const channel of CHANNEL_NAMES) {
    expect(lookOf(channel)(own)).toMatchObject({
      drifted: true,
      title: expect.stringContaining('encoded again') as string,
    });
    expect(lookOf(channel)(own).accessibleName).toMatch(/, drifted$/);
    expect(lookOf(channel)(own + 1)).not.toHaveProperty('drifted');
  }
});

test('tokens of a file of another program have its words, its kinds and its numbers; without words their ids', () => {
  const segments = [
    { role: 'system', kind: 'system', turn: 0, text: 'Be brief.', from: null, to: null },
    { role: 'prompt', kind: 'prompt', turn: 0, text: 'q', from: 0, to: 1 },
    { role: 'action', kind: 'action', turn: 1, text: 'a b', from: 1, to: 3 },
  ] as const;
  const [record] = opened(example, exampleVocabulary);
  const { batch: _, ...other } = { ...record!, segments, tokens: { ids: [7, 8, 9], words: null, channels: { value: [null, 2, -1] } } }; // prettier-ignore
  expect(recordTurns(other)).toEqual([
    { turn: 0, spans: [{ kind: 'system', tokens: [], text: 'Be brief.' }, { kind: 'prompt', tokens: [0] }] },
    { turn: 1, spans: [{ kind: 'action', tokens: [1, 2] }] },
  ]); // prettier-ignore
  const look = recordLooks(other)('value');
  expect(look(0)).toMatchObject({ word: '#7', kind: 'prompt', fill: { absent: true, text: '–' } });
  expect(look(2)).toMatchObject({ word: '#9', kind: 'action', fill: { absent: false, isNegative: true, text: '−1' } });
});

test('only what a model wrote itself is pressed in a chat; under Surprise the unlikelier is the stronger', () => {
  const batch = LONG;
  const passages = withTokens([], said(batch, longVocabulary, ROW));
  const own = batch.roles.subarray(ROW * batch.length).indexOf(2);
  const looks = chatLooks(() => passages);
  expect([looks('none')(0).accessibleName, looks('none')(own).fill]).toEqual([undefined, undefined]);
  expect(looks('none')(own).accessibleName).toBe('<tool_call>');
  expect(looks('surprise')(own).fill).toMatchObject({ ramp: 'sequential', strength: 0.5, text: null });
});
