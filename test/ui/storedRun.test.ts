import { expect, test } from 'vitest';
import { checksumOf } from '../../src/base/checksum.ts';
import { parseConfig } from '../../src/config/config.ts';
import { noProgress } from '../../src/domain/progress.ts';
import { checkpointOf } from '../../src/runs/checkpoint.ts';
import { bareRun } from '../../src/runs/run.ts';
import { Series } from '../../src/runs/series.ts';
import { readStored, storedRun } from '../../src/ui/runs/storedRun.ts';

const points = (x: number[], y: number[]) => ({ x: Uint32Array.from(x), y: Float64Array.from(y) });
const pool = () => new Map([['w', Float32Array.of(1, 2)]]);
const network = { weights: pool(), adamM: pool(), adamV: pool(), steps: 3 };
const begun = parseConfig({ seed: 9 });
const config = parseConfig({ seed: 9, learningRate: 0.01 });
const checkpoint = checkpointOf({
  ...{ begun, config, vocabulary: ['a'], networks: { policy: network, critic: null }, rewardModel: null },
  progress: { ...noProgress(), evaluated: true, update: 2 },
});
const run = bareRun({
  ...{ id: 4, name: 'n', started: '2026-11-21T00:00:00.000Z', backend: { kind: 'gpu', adapter: 'x' }, begun, config },
  ...{ changes: [{ update: 2, text: 'η' }], update: 2, fork: { run: 1, update: 1 }, checkpoint },
  facts: { source: 'f.csv', triples: [['a', 'to', 'b']] },
  series: new Map([['rollout/success', Series.of(points([1, 2, 3], [0.25, 0.5, 0.75]))]]),
});

test('a run that the database keeps is the same run when it is read, but for points of after its update', () => {
  const kept: unknown = structuredClone(storedRun({ run, order: 3, savedAt: 5000 }));
  const read = readStored(kept);
  expect(read).toMatchObject({ order: 3, savedAt: 5000 });
  const { series, ...rest } = read.run;
  const { series: all, ...before } = run;
  expect(rest).toEqual(before);
  expect([...series.keys()]).toEqual([...all.keys()]);
  expect(series.get('rollout/success')?.points).toEqual(points([1, 2], [0.25, 0.5]));
});

test('what an older page saved is read: newest numbers beside the curves, no place in the list', () => {
  const of = (record: unknown) => {
    const page = { points: new Map([['rollout/success', points([1], [0.5])], ['gone/metric', points([1], [1])]]), flags: [], metrics: { 'rollout/success': 0.5 }, config: null, record }; // prettier-ignore
    const whole = { update: 2, name: 'n', savedAt: 60_000, facts: null, page };
    return { ...whole, checkpoint, sum: checksumOf({ ...whole, checkpoint: null, sum: null }) };
  };
  const record = { id: 7, name: 'n', started: 's', backend: 'CPU', config: begun };
  expect(readStored(of(record)).run).toMatchObject({ id: 7, begun, config, update: 2, backend: { kind: 'cpu' } });
  const unlisted = readStored(of(null)).run;
  expect(unlisted).toMatchObject({ id: 0, name: 'n', begun, started: '1970-01-01T00:01:00.000Z' });
  expect(readStored(of(null)).order).toBe(0);
  expect([...unlisted.series.keys()]).toEqual(['rollout/success']);
  expect(unlisted.checkpoint).toEqual(checkpoint);
  expect(() => readStored(of({ ...record, id: -1 }))).toThrow(/record it continues can’t be read/);
});

interface Kept {
  checkpoint: { version: number; networks: { policy: { weights: Map<string, Float32Array> } } };
  name: string;
  page: { points: Map<string, { y: Float64Array }>; flags: unknown } | null;
}
const weight = (kept: Kept) => kept.checkpoint.networks.policy.weights.get('w') ?? new Float32Array(0);
const curve = (kept: Kept) => kept.page?.points.get('rollout/success')?.y;

/** What is done to a save, and what is said of it. */
const DAMAGE: Readonly<Record<string, readonly [spoil: (kept: Kept) => unknown, words: RegExp]>> = {
  'a weight that is not finite': [(kept) => weight(kept).fill(NaN, 0, 1), /weight w .*not finite/],
  'one flipped bit in a weight': [
    (kept) => (new Uint32Array(weight(kept).buffer)[1]! ^= 1),
    /damaged after it was saved: its checksum is/,
  ],
  'a tensor of the wrong length': [
    (kept) => kept.checkpoint.networks.policy.weights.set('w', new Float32Array(3)),
    /damaged after it was saved/,
  ],
  'another version': [(kept) => (kept.checkpoint.version = 99), /It is of version 99; this page reads version 3/],
  'a curve that does not read': [(kept) => curve(kept)?.fill(NaN), /want rising updates and finite values/],
  'another value on a curve': [(kept) => curve(kept)?.fill(1), /damaged after it was saved/],
  'no page': [(kept) => (kept.page = null), /Its curves can’t be read/],
  'flags that are none': [(kept) => (kept.page!.flags = 7), /list of changed knobs can’t be read/],
  'another name': [(kept) => (kept.name += 's'), /damaged after it was saved/],
};

test.each(Object.entries(DAMAGE))('a save with %s is refused, and what is wrong is said', (_, [spoil, words]) => {
  const kept = structuredClone(storedRun({ run, order: 3, savedAt: 5000 }));
  spoil(kept as Kept);
  expect(() => readStored(kept)).toThrow(words);
});

test.each([null, 7, 'run', []])('what is no run, such as %j, is refused', (kept) => {
  expect(() => readStored(kept)).toThrow(/not a run|the save: got undefined/);
});
