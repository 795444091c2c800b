import { readFileSync } from 'node:fs';
import { deserialize } from 'node:v8';
import { gunzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { checksumOf } from '../../src/base/checksum.ts';
import { FILE_NAMES } from '../../src/checkpoints/checkpointFolder.ts';
import { readCheckpointFiles } from '../../src/checkpoints/read.ts';
import { checkpointFiles } from '../../src/checkpoints/write.ts';
import { parseConfig } from '../../src/config/config.ts';
import { noProgress } from '../../src/domain/progress.ts';
import { filesOfZip } from '../../src/formats/zip.ts';
import { checkpointOf } from '../../src/runs/checkpoint.ts';
import { packedRun } from '../../src/runs/packed.ts';
import { runWithDefaults, type Run } from '../../src/runs/run.ts';
import { RunLog } from '../../src/runs/runLog.ts';
import { Series } from '../../src/runs/series.ts';
import { readRun, runText } from '../../src/page/runs/keptRun.ts';
import { summariesOf } from '../../src/page/runs/database.ts';
import { readSave } from '../../src/page/runs/readSave.ts';
import { saveRecord } from '../../src/page/runs/saveRecord.ts';

const points = (x: number[], y: number[]) => ({ x: Uint32Array.from(x), y: Float64Array.from(y) });
const pool = () => new Map([['w', Float32Array.of(1, 2)]]);
const network = { weights: pool(), adamM: pool(), adamV: pool(), steps: 3 };
const pairs = { lengths: Int32Array.of(1, 1), tokens: Int32Array.of(4, 5), roles: Uint8Array.of(1, 2) };
const begun = parseConfig({ seed: 9 });
const config = parseConfig({ seed: 9, learningRate: 0.01 });
const checkpoint = checkpointOf({
  ...{ begun, config, vocabulary: ['a'], networks: { policy: network, critic: network }, start: pool() },
  chatTokenizer: { tokenizer: '{"a":1}', template: '{{ a }}', stops: [2] },
  rewardModel: { network, memory: { pairs: 1, clicks: 2, observed: 3, fits: 4, fitted: pairs, heldOut: pairs, persons: pairs } }, // prettier-ignore
  progress: { ...noProgress(), evaluated: true, update: 2 },
});
const run = runWithDefaults({
  ...{ id: 4, name: 'n', started: '2026-11-21T00:00:00.000Z', backend: { kind: 'gpu', adapter: 'x' }, begun, config },
  ...{ changes: [{ update: 2, text: 'η' }], update: 2, fork: { run: 1, update: 1 }, checkpoint, vocabulary: ['a'] },
  ...{ kernels: { set: 'plain', why: 'asked for' }, solved: new Map([['task', true]]), skipped: 3, seconds: 12.5 },
  facts: { source: 'f.csv', triples: [['a', 'to', 'b']] },
  environment: { name: 'own.ts', text: 'export default {};' },
  series: new Map([['rollout/success', Series.of(points([1, 2, 3], [0.25, 0.5, 0.75]))]]),
});

test('a run that the database keeps is the same run when it is read, but for points of after its update', () => {
  const kept: unknown = structuredClone(saveRecord({ run, order: 3, savedAt: 5000 }));
  const read = readSave(kept);
  expect(read).toMatchObject({ order: 3, savedAt: 5000 });
  const { series, ...rest } = read.run;
  const { series: all, ...before } = run;
  expect(rest).toEqual(before);
  expect([...series.keys()]).toEqual([...all.keys()]);
  expect(series.get('rollout/success')?.points).toEqual(points([1, 2], [0.25, 0.5]));
});

test('a run that goes on from its checkpoint goes on with the curves of then: what it repeats is told anew', () => {
  const log = new RunLog(run);
  const curve = () => log.run.series.get('rollout/success')?.points;
  expect(curve()).toEqual(points([1, 2], [0.25, 0.5]));
  log.add({ type: 'metrics', update: 3, values: { 'rollout/success': 0.125 } });
  expect(curve()).toEqual(points([1, 2, 3], [0.25, 0.5, 0.125]));
  expect(run.series.get('rollout/success')?.lastValue).toBe(0.75); // the run itself keeps its own
});

test('how long a saved run trained is known without reading it whole; an older page’s save counts from its start', () => {
  const saved = (seconds: number | undefined, order: number) => {
    const { seconds: _, ...rest } = run;
    const kept = seconds === undefined ? rest : { ...rest, seconds };
    return structuredClone(saveRecord({ run: kept, order, savedAt: Date.parse(run.started) + 90_000 }));
  };
  const stored = [saved(12.5, 7), saved(undefined, 6), { page: {}, order: 5 }, null].map((value, i) => ({
    slot: `${i}`,
    value: value as unknown,
  }));
  const summaries = summariesOf(stored).map(({ slot, name, seconds }) => [slot, name, seconds]);
  expect(summaries).toEqual([
    ['3', '', 0],
    ['2', '', Infinity],
    ['1', 'n', 90],
    ['0', 'n', 12.5],
  ]);
});

test('a run that has no checkpoint is not saved', () => {
  expect(() => saveRecord({ run: { ...run, checkpoint: null }, order: 1, savedAt: 1 })).toThrow(/no checkpoint/);
});

/** Files of test/fixtures/olderRuns: a run as the page of 2026-11-26 kept it, exported it and had it in its list. */
const older = (name: string) => readFileSync(new URL(`../fixtures/olderRuns/${name}`, import.meta.url));
const exported = (kind: string) => {
  const files = filesOfZip('run.zip', new Uint8Array(older(`${kind}.zip`)));
  const read = readCheckpointFiles(files);
  if (read.kind !== 'ours') throw new Error('want a run of this project');
  return { files, run: read.run };
};

describe.each(['words', 'text'])('the run in %s that an older page left', (kind) => {
  const save = () => deserialize(gunzipSync(older(`${kind}.save.gz`))) as Record<string, unknown>;
  // the knob `randomness` was called `luck` then
  const text = (bytes: Uint8Array | undefined) =>
    new TextDecoder().decode(bytes).replaceAll('"luck":', '"randomness":');

  test('is read from its save as it was exported, but for what was not saved then; and saved again, as any run is', () => {
    const read = readSave(save());
    expect(read).toMatchObject({ order: 3, savedAt: 1_795_000_000_000 });
    const whole = (from: Run) => packedRun({ ...from, checkpoint: from.checkpoint! });
    expect(whole(read.run)).toEqual({ ...exported(kind).run, solved: null, skipped: 0 });
    const again = readSave(structuredClone(saveRecord(read)));
    expect(whole(again.run)).toEqual(whole(read.run));
  });

  test('is exported again from its folder to the same bytes, and kept by the browser with the same manifest', () => {
    const { files, run: read } = exported(kind);
    const again = checkpointFiles(read);
    // without the checksums, which are of the former name
    const json = (t: string) => JSON.parse(t, (key, value: unknown) => (key === 'sum' ? undefined : value)) as object;
    // later came `imitationHorizon`, `klTimesRatio`, `observationLoss`, `trainTurns`, `rows`, `retokenize`, staleness, its correction, `stateWeight`, `informationReward`, tries
    const manifest = json(
      text(files.get(FILE_NAMES.manifest))
        .replaceAll(/"imitationSteps":\s*\d+/g, '$&,"imitationHorizon":0')
        .replaceAll(/"klTarget":\s*\d+/g, '$&,"klTimesRatio":"off"')
        .replaceAll(
          /"topP":\s*[\d.]+/g,
          '$&,"staleness":0,"staleTurns":"all","retokenize":"off","rows":"episode","shown":"everything","shownTurns":1',
        )
        .replaceAll(
          /"topP":\s*[\d.]+/g,
          '$&,"correction":"none","correctionLevel":"token","stateWeight":1,"informationReward":0',
        )
        .replaceAll(/"topP":\s*[\d.]+/g, '$&,"correctionLow":0.5,"correctionHigh":2')
        .replaceAll(
          /"advantageMask":\s*"\w+"/g,
          '$&,"observationLoss":0,"trainTurns":"all","teacher":"none","teacherCoef":1',
        )
        .replace('"penalty":', '"tries":[],$&'),
    );
    expect(json(text(again.get(FILE_NAMES.manifest)))).toEqual(manifest);
    const { run: readAgain } = readCheckpointFiles(again) as { readonly run: unknown };
    expect(readAgain).toEqual(read); // so the new checksums are right
    const others = [...files.keys()].filter((name) => name !== FILE_NAMES.manifest && name !== FILE_NAMES.card); // the card’s words may change
    for (const name of others) expect(Buffer.from(files.get(name)!).equals(again.get(name)!), name).toBe(true);
    const saved = saveRecord({ run: { ...runWithDefaults(read), series: new Map(Array.from(read.points, ([name, curve]) => [name, Series.of(curve)])) }, order: 1, savedAt: 1 }); // prettier-ignore
    const kept = json(JSON.stringify(saved.manifest));
    expect(kept).toEqual(manifest); // the browser keeps the same manifest
  });

  test('is read from the list of runs, and written to the same text', () => {
    const line = older(`${kind}.list.txt`);
    const read = readRun(line.toString());
    const { id, name, started, begun: first, config: now, changes, update, fork } = exported(kind).run;
    expect(read).toMatchObject({ id, name, started, begun: first, config: now, changes, update, fork });
    expect(read && runText(read)).toBe(text(line));
  });
});

test('what the oldest pages saved is read: newest numbers beside the curves, no place in the list', () => {
  const of = (record: unknown, newest: unknown = null) => {
    const page = { points: new Map([['rollout/success', points([1], [0.5])], ['gone/metric', points([1], [1])]]), flags: [], metrics: { 'rollout/success': 0.5 }, config: newest, record }; // prettier-ignore
    const whole = { update: 2, name: 'n', savedAt: 60_000, facts: null, page };
    return { ...whole, checkpoint, sum: checksumOf({ ...whole, checkpoint: null, sum: null }) };
  };
  const record = { id: 7, name: 'n', started: '2026-11-21T00:00:00.000Z', backend: 'CPU', config: begun };
  expect(readSave(of(record)).run).toMatchObject({ id: 7, begun, config, update: 2, backend: { kind: 'cpu' } });
  const unlisted = readSave(of(null)).run;
  expect(unlisted).toMatchObject({ id: 0, name: 'n', begun, started: '1970-01-01T00:01:00.000Z' });
  expect(readSave(of(null)).order).toBe(0);
  expect([...unlisted.series.keys()]).toEqual(['rollout/success']);
  expect(unlisted.checkpoint).toEqual(checkpoint);
  const newest = parseConfig({ ...config, clipLow: 0.1 }); // changed after its last update
  expect(readSave(of(record, newest)).run).toMatchObject({ config: newest, checkpoint: { config } });
  expect(() => readSave(of({ ...record, id: -1 }))).toThrow(/^run\.id: found -1/);
});

interface Kept {
  manifest: { version: number };
  tensors: Map<string, Float32Array>;
  points: object | null;
  texts: { environment: string | null };
}
const weight = (kept: Kept) => kept.tensors.get('policy.weights.w') ?? new Float32Array(0);

/** What is done to a save, and what is said of it. That any other change is refused: the test after these. */
const DAMAGE: Readonly<Record<string, readonly [spoil: (kept: Kept) => unknown, words: RegExp]>> = {
  'a weight that is not finite': [(kept) => weight(kept).fill(NaN, 0, 1), /weight w .*not finite/],
  'one flipped bit in a weight': [
    (kept) => (new Uint32Array(weight(kept).buffer)[1]! ^= 1),
    /damaged after it was saved: its checksum is/,
  ],
  'a tensor of the wrong length': [
    (kept) => kept.tensors.set('policy.weights.w', new Float32Array(3)),
    /damaged after it was saved/,
  ],
  'a tensor of another kind': [
    (kept) => kept.tensors.set('critic.adamV.w', 7 as unknown as Float32Array),
    /in place of a network’s tensors/,
  ],
  'no pairs of its reward model': [
    (kept) => kept.tensors.delete('reward_model.pairs.persons.roles'),
    /The pairs its reward model was taught by a person can’t be read/,
  ],
  'no tensors': [(kept) => kept.tensors.clear(), /in place of a network’s tensors/],
  'another version': [(kept) => (kept.manifest.version = 99), /version 99.*reads version 1/],
  'no curves': [(kept) => (kept.points = null), /damaged after it was saved/],
  'another environment': [(kept) => (kept.texts.environment = 'export default {} ;'), /a text with the checksum/],
  'no environment': [(kept) => (kept.texts.environment = null), /no such file/],
};

test.each(Object.entries(DAMAGE))('a save with %s is refused, and what is wrong is said', (_, [spoil, words]) => {
  const kept = structuredClone(saveRecord({ run, order: 3, savedAt: 5000 })) as unknown as Kept;
  spoil(kept);
  expect(() => readSave(kept)).toThrow(words);
});

/** Every value in `record`, with what holds it and under which key. */
function placesIn(record: unknown, where: string): readonly (readonly [where: string, holder: object, key: string])[] {
  if (typeof record !== 'object' || record === null || ArrayBuffer.isView(record)) return [];
  const entries: readonly (readonly [string, unknown])[] = record instanceof Map ? [...(record as Map<string, unknown>)] : Object.entries(record); // prettier-ignore
  return entries.flatMap(([key, inner]) => [[`${where}.${key}`, record, key] as const, ...placesIn(inner, `${where}.${key}`)]); // prettier-ignore
}

test.each([
  ['this page', () => structuredClone(saveRecord({ run, order: 3, savedAt: 5000 }))],
  ['an older page', () => deserialize(gunzipSync(older('words.save.gz'))) as object],
])('a save of %s in which any one value is of another kind, or differs by a bit, is refused', (_, save) => {
  const kept = save();
  const places = placesIn(kept, 'save');
  expect(places.length).toBeGreaterThan(200);
  const taken: string[] = [];
  for (const [where, holder, key] of places) {
    const put = (value: unknown) => (holder instanceof Map ? holder.set(key, value) : Reflect.set(holder, key, value));
    const value: unknown = holder instanceof Map ? holder.get(key) : Reflect.get(holder, key);
    for (const changed of [typeof value === 'number' ? 'x' : 7, differing(value)]) {
      if (Object.is(changed, value)) continue;
      put(changed);
      try {
        readSave(kept);
        taken.push(`${where}: ${String(changed)}`);
      } catch {
        // refused
      }
      put(value);
    }
  }
  expect(taken).toEqual([]);
  expect(() => readSave(kept)).not.toThrow(); // each value was put back
});

/** The value with a bit of it changed; the same value where it has none. */
function differing(value: unknown): unknown {
  if (typeof value === 'number') return value * (1 + 2 ** -40) + 2 ** -20;
  if (typeof value === 'string' && value !== '') return String.fromCharCode(value.charCodeAt(0) ^ 1) + value.slice(1);
  if (typeof value === 'boolean') return !value;
  if (!ArrayBuffer.isView(value) || value.byteLength === 0) return value;
  const copy = structuredClone(value);
  new Uint8Array(copy.buffer, copy.byteOffset, copy.byteLength)[0]! ^= 1;
  return copy;
}

test('a save with a right checksum whose curve falls is refused', () => {
  const falling = points([2, 1], [0.5, 0.5]);
  const kept = saveRecord({ run: { ...run, series: new Map([['rollout/success', { upTo: () => falling } as unknown as Series]]) }, order: 3, savedAt: 5000 }); // prettier-ignore
  expect(() => readSave(kept)).toThrow(/Updates must rise and values be finite/);
});

test.each([null, 7, 'run', [], {}])('what is no run, such as %j, is refused', (kept) => {
  expect(() => readSave(kept)).toThrow(/not a run|[Ff]ound nothing, expected an object/);
});
