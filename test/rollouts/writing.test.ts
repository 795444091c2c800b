import { expect, test } from 'vitest';
import { DEFAULTS } from '../../src/config/fields.ts';
import type { BatchView, KeptBatch } from '../../src/domain/batch.ts';
import { Role } from '../../src/domain/tokens.ts';
import { ownLines } from '../../src/rollouts/writeOwn.ts';
import { traceLines } from '../../src/rollouts/writeTraces.ts';
import type { RolloutRecord, TokenChannel } from '../../src/rollouts/rolloutRecord.ts';
import { CHANNEL_NAMES, CHANNELS, channelValue, type Channel } from '../../src/page/rollout/channels.ts';
import { partsOfEpisode, partsOfToken } from '../../src/page/rollout/rewardParts.ts';
import { readRollout } from '../../src/page/rollout/readRollout.ts';
import { fileOf, readAll, recordedBatches } from './reading.ts';

const { batches, vocabulary } = recordedBatches();
const RUN = { id: 'run-1', name: 'recorded', started: '2026-01-01T00:00:00Z' };

/** A batch as it would be with a critic, a reference, a cut distribution and two passes. */
function withEverything({ batch, config }: KeptBatch): KeptBatch {
  const made = (scale: number) => batch.logprobs.map((value, i) => Math.fround((value - (i % 7)) * scale));
  const pass = (n: number) => ({
    ...{ epoch: n, gradWeights: made(n), policyWeights: made(-n), shares: new Float32Array(batch.rows).fill(1 / 64) },
  });
  const whole: BatchView = {
    ...batch,
    ...{ values: made(0.3), returns: made(0.1), refLogprobs: made(1.1), drawnLogprobs: made(0.9) },
    epochViews: [pass(1), pass(2)],
  };
  return { batch: whole, config: { ...config, estimator: 'gae', klCoef: 0.1 } };
}

/** What the page's own panels call each channel of a file. */
const SAME: Readonly<Partial<Record<Channel, TokenChannel>>> = {
  advantage: 'advantage',
  gradient: 'push',
  entropy: 'entropy',
  value: 'value',
  reward: 'reward',
};

/** All that differs between what the panels show of a row and what its file says; numbers are float32 on both sides. */
function differences({ batch, config }: KeptBatch, row: number, record: RolloutRecord): string[] {
  const found: string[] = [];
  const same = (what: string, got: unknown, want: unknown) => {
    if (JSON.stringify(got) !== JSON.stringify(want))
      found.push(`${what}: ${JSON.stringify(got)}, want ${JSON.stringify(want)}`);
  };
  const near = (what: string, got: number | null | undefined, want: number | undefined) =>
    same(
      what,
      got === null || got === undefined ? null : Math.fround(got),
      want === undefined ? null : Math.fround(want),
    );
  const view = { batch, config, row, logprobsAroundUpdate: null };
  const shown = readRollout(batch, vocabulary, row);
  const episode = batch.episodes.find((each) => each.row === row)!;
  same('words', record.tokens?.words, shown.words);
  same('text', record.segments.map(({ text }) => text).join(' '), shown.words.join(' '));
  same(
    'parts',
    record.rewardParts,
    partsOfEpisode(episode).map(({ part, amount }) => [part, amount]),
  );
  same(
    'episode',
    [record.reward, record.success, record.turns, record.toolCalls, record.stop, record.task],
    [...[episode.reward, episode.success, episode.turns, episode.toolCalls, episode.stop, episode.question]],
  );
  shown.words.forEach((_, t) => {
    const i = row * batch.length + t;
    const channels = record.tokens!.channels;
    for (const name of CHANNEL_NAMES) {
      const key = SAME[name];
      // the one legal word has probability 1: the page shows no push there, the file has what the loss said
      if (!key || (name === 'gradient' && batch.singles[i] === 1)) continue;
      near(`${CHANNELS[name].label} of ${t}`, channels[key]?.[t], channelValue(view, name, i));
    }
    const inLoss = batch.lossMask[i] !== 0;
    if (shown.kinds[t] !== 'prompt') {
      near(`loss of ${t}`, channels.loss?.[t], batch.lossMask[i]);
      near(`credit of ${t}`, channels.credit?.[t], batch.advantageMask[i]);
    }
    if (batch.roles[i] !== Role.action && !inLoss) return;
    near(`logprob of ${t}`, channels.logprob?.[t], batch.logprobs[i]);
    near(`return of ${t}`, channels.return?.[t], config.estimator === 'gae' ? batch.returns[i] : undefined);
    near(`reference of ${t}`, channels.refLogprob?.[t], config.klCoef === 0 ? undefined : batch.refLogprobs[i]);
    if (batch.roles[i] === Role.action)
      near(`as sampled of ${t}`, channels.sampledLogprob?.[t], batch.sampledLogprobs[i]);
    if (batch.roles[i] === Role.action) near(`drawn of ${t}`, channels.drawnLogprob?.[t], batch.drawnLogprobs?.[i]);
    const paid = record.tokens!.parts!.map(([part, list]) => [part, Math.fround(list[t] ?? 0)] as const);
    same(
      `parts of ${t}`,
      paid.filter(([, amount]) => Math.abs(amount) > 1e-6),
      partsOfToken(batch, i).map(({ part, amount }) => [part, amount]),
    );
  });
  return found;
}

test.each([
  ['as recorded', batches],
  ['with a critic, a reference, a cut distribution and two passes', batches.map(withEverything)],
])('own JSON Lines opened again say what the panels show, number for number: %s', async (_, kept) => {
  const text = kept.flatMap((each) => ownLines(each, vocabulary)).join('');
  const { records, problems, groups } = await readAll([fileOf('own.jsonl', text)]);
  expect(problems).toEqual([]);
  expect(records).toHaveLength(40);
  expect(groups).toEqual(['1-0', '10-0', '25-0', '60-0', '160-0']);
  const found = kept.flatMap((each, b) =>
    each.batch.episodes.flatMap(({ row }) => differences(each, row, records[b * 8 + row]!)),
  );
  expect(found).toEqual([]);
});

test('traces opened again have ids, words, masks, log-probabilities, advantages, reference, group, step and reward', async () => {
  const kept = batches.map(withEverything);
  const text = kept.flatMap((each) => traceLines(each, vocabulary, RUN)).join('');
  const versionOf = (age: number) => {
    const batch = { ...kept[0]!.batch, update: 9, ...(age > 0 && { age }) };
    const [line = ''] = traceLines({ ...kept[0]!, batch }, vocabulary, RUN);
    return (JSON.parse(line) as { readonly run: { readonly work: { readonly policy: object } } }).run.work.policy;
  };
  expect([versionOf(0), versionOf(3)]).toEqual([8, 5].map((after) => ({ start: after, end: after })));
  const { records, problems } = await readAll([fileOf('traces.jsonl', text)]);
  expect(problems).toEqual([]);
  kept.forEach(({ batch }, b) => {
    for (const episode of batch.episodes) {
      const record = records[b * 8 + episode.row]!;
      const { words } = readRollout(batch, vocabulary, episode.row);
      const from = episode.row * batch.length;
      const at = (list: ArrayLike<number>) =>
        words.map((_, t) => (batch.roles[from + t] === Role.action ? list[from + t] : null));
      const read = (channel: TokenChannel) =>
        record.tokens?.channels[channel]?.map((value) => (value === null ? null : Math.fround(value)));
      expect(record.tokens?.words).toEqual(words);
      expect([record.step, record.group, record.success]).toEqual([batch.update, `${batch.update}-0`, episode.success]);
      expect(record.reward).toBeCloseTo(episode.reward, 6);
      expect(record.tokens?.channels.sampled).toEqual(
        words.map((_, t) => Number(batch.roles[from + t] === Role.action)),
      );
      expect(read('sampledLogprob')).toEqual(at(batch.sampledLogprobs));
      expect(read('advantage')).toEqual(at(batch.advantages));
      expect(read('refLogprob')).toEqual(at(batch.refLogprobs));
      expect(read('loss')).toEqual(words.map((_, t) => batch.lossMask[from + t]));
      expect(record.segments.map(({ text: said }) => said).join(' ')).toBe(words.join(' '));
      const [last] = record.segments.slice(-1);
      expect(last?.to).toBe(words.length);
    }
  });
});

test('the weights of words learned as a prediction are in the traces, and come back', async () => {
  const [{ batch, config }] = [batches[0]!];
  const bodies = Uint8Array.from(batch.roles, (role, i) => Number(role === Role.observation && i % 3 > 0));
  expect(bodies.some((body) => body === 1)).toBe(true);
  const observationMask = Float32Array.from(bodies);
  const kept = { batch: { ...batch, observationMask }, config: { ...config, observationLoss: 0.05 } };
  const lines = traceLines(kept, vocabulary, RUN);
  const { records } = await readAll([fileOf('traces.jsonl', lines.join(''))]);
  const without = await readAll([fileOf('traces.jsonl', traceLines(batches[0]!, vocabulary, RUN).join(''))]);
  batch.episodes.forEach(({ row }) => {
    const weights = Array.from({ length: batch.lengths[row]! }, (_, t) => 0.05 * bodies[row * batch.length + t]!);
    const read = records[row]!.tokens!.channels.predicted?.map((weight) => weight ?? 0);
    // a rollout without such words has no list
    expect(read).toEqual(weights.some((weight) => weight > 0) ? weights : undefined);
    expect(without.records[row]!.tokens!.channels.predicted).toBeUndefined();
  });
});

test('rows of several contexts: starts and the weights of each context come back; traces have each message once', async () => {
  const [{ batch: recorded, config }] = [withEverything(batches.at(-1)!)];
  const { length } = recorded;
  // the first observation of each row begins a context, whose first two tokens are shown again
  const [roles, contextStarts] = [recorded.roles.slice(), new Int32Array(recorded.roles.length)];
  for (let row = 0; row < recorded.rows; row++) {
    const start = recorded.roles.subarray(row * length, (row + 1) * length).indexOf(Role.observation);
    if (start < 0) continue;
    contextStarts.fill(start, row * length + start, (row + 1) * length);
    roles.fill(Role.prompt, row * length + start, row * length + start + 2);
  }
  const shares = Float32Array.from(contextStarts, (start) => (start === 0 ? 0.5 : 0.25));
  const epochViews = recorded.epochViews!.map((view) => ({ ...view, shares }));
  const drifted = recorded.roles.map((role) => (role === Role.action ? 1 : 0));
  const kept = { batch: { ...recorded, roles, contextStarts, drifted, epochViews }, config };
  const own = await readAll([fileOf('own.jsonl', ownLines(kept, vocabulary).join(''))]);
  const traces = await readAll([fileOf('traces.jsonl', traceLines(kept, vocabulary, RUN).join(''))]);
  let severalContexts = 0;
  for (const { row } of kept.batch.episodes) {
    const [from, to] = [row * length, row * length + recorded.lengths[row]!];
    const read = own.records[row]!.batch!.batch;
    expect([...read.contextStarts!]).toEqual([...contextStarts.subarray(from, to)]);
    expect([...read.drifted!]).toEqual([...drifted.subarray(from, to)]);
    expect([...read.epochViews![0]!.shares]).toEqual([...shares.subarray(from, to)]);
    const words = readRollout(recorded, vocabulary, row).words.filter((_, t) => t === 0 || roles[from + t] !== Role.prompt || contextStarts[from + t] === 0); // prettier-ignore
    expect(traces.records[row]!.tokens!.words).toEqual(words);
    if (words.length < to - from) severalContexts++;
  }
  expect(severalContexts).toBeGreaterThan(2);
});

test('what the knobs did not measure is not in the file', () => {
  const [first] = batches;
  const line = JSON.parse(ownLines(first!, vocabulary)[0]!) as Record<string, unknown>;
  expect(Object.keys(line)).not.toContain('values'); // grpo has no critic
  expect(Object.keys(line)).not.toContain('ref_logprobs'); // no coefficient
  expect(line['knobs']).toMatchObject({ env: 'number-hunt', estimator: 'grpo' });
  const changed = Object.entries(line['knobs'] as object).filter(([name]) => !['env', 'estimator'].includes(name));
  expect(changed.length).toBeGreaterThan(0);
  for (const [name, value] of changed)
    expect([name, value]).not.toEqual([name, DEFAULTS[name as keyof typeof DEFAULTS]]);
});

test('a line with a knob’s former name is read with the present one', async () => {
  const [first] = batches;
  const line = JSON.parse(ownLines(first!, vocabulary)[0]!) as Record<string, unknown>;
  const { records } = await readAll([
    fileOf('own.jsonl', JSON.stringify({ ...line, knobs: { ...(line['knobs'] as object), luck: 'group' } })),
  ]);
  expect(records[0]?.batch?.config.randomness).toBe('group');
});
