import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { beforeEach, expect, test, vi } from 'vitest';
import { parseConfig } from '../../src/config/config.ts';
import { RESULT_VERSION, resultFromRun, type RunResult } from '../../src/experiments/runResult.ts';
import { readLog, runLine, updateLine } from '../../src/runs/log.ts';
import { ProblemError } from '../../src/base/problem.ts';
import { runWithDefaults } from '../../src/runs/run.ts';
import { openFiles, useOpenedFiles } from '../../src/page/files/openFiles.ts';
import { readRun, runText } from '../../src/page/runs/keptRun.ts';
import { deleteRun, useRuns } from '../../src/page/runs/runStore.ts';
import { readMetricFile } from '../../src/metricLogs/readMetricFile.ts';
import { sentRun } from '../../src/runs/sentRun.ts';
import { replaced, replacement } from '../damage.ts';
import type { ReaderCommand, ReaderEvent } from '../../src/wire/readerMessages.ts';

const begun = parseConfig({ env: 'bandit', seed: 9 });
const MANIFEST = {
  ...{ name: 'Bandit: seed 9', started: '2026-11-23T08:00:00.000Z', begun },
  backend: { kind: 'cpu', adapter: 'WebAssembly SIMD' },
} as const;
const HEAD = runLine(runWithDefaults({ id: 0, ...MANIFEST }));
const LOG = [
  HEAD,
  updateLine(0, { 'eval/success': 0.25 }),
  updateLine(1, { 'rollout/success': 0.5, 'time/update': 0.1 }),
  updateLine(2, { 'rollout/success': 0.75, 'eval/success': 1 }),
  '{"kind":"summary","updates":2}',
  '',
];
const FILE = { name: 'a.jsonl', written: '2026-11-22T00:00:00.000Z' };
const result = (arm: string, seed: number): RunResult => ({
  ...{ version: RESULT_VERSION, experiment: 'sweep', arm, seed, config: { ...begun, seed }, backend: 'cpu: x' },
  ...{ metrics: {}, curve: [0.25, 0.5], heldOut: [[0, 0], [2, 0.5]], health: [], skipped: 0, seconds: 1 }, // prettier-ignore
});
const placed = (path: string, content: string) => ({ path, file: new File([content], path.split('/').at(-1) ?? '') });
const points = (at: number, metric: 'rollout/success' | 'eval/success') => {
  const curve = useRuns.getState().runs[at]?.series.get(metric)?.points;
  return curve && Array.from(curve.x, (update, i) => [update, curve.y[i]]);
};

beforeEach(() => {
  useRuns.setState({ runs: [], slots: [null, null, null, null, null, null] });
  useOpenedFiles.setState({ words: '', problems: [] });
});

test('a log is the run it tells of: its knobs, its backend and every number; a last line that was cut off is left out', () => {
  const run = readLog(`${LOG.slice(0, 4).join('\n')}\n{"kind":"update","upd`, FILE);
  expect(run).toMatchObject({ ...MANIFEST, id: 0, update: 2, checkpoint: null });
  expect(run.series.get('eval/success')?.points.y).toEqual(Float64Array.of(0.25, 1));
  expect(run.series.get('time/update')?.lastValue).toBe(0.1);
  // metrics.jsonl of a saved folder says nothing of knobs: playground.json beside it does
  const bare = '{"update":1,"rollout/success":0.5,"gone/metric":1}\n';
  expect(readLog(bare, FILE)).toMatchObject({ name: 'a.jsonl, knobs unknown', started: FILE.written, update: 1 });
  expect(readLog(bare, { ...FILE, run: MANIFEST })).toMatchObject({ ...MANIFEST, update: 1 });
  // all of it, but for numbers of runs in the browser that it comes from
  const changed = {
    config: parseConfig({ ...MANIFEST.begun, learningRate: 0.01 }),
    changes: [{ update: 1, text: 'η' }],
  };
  const saved = readLog(bare, { ...FILE, run: { ...MANIFEST, ...changed, id: 7, fork: { run: 1, update: 1 } } });
  expect(saved).toMatchObject({ ...MANIFEST, ...changed, id: 0, update: 1 });
  expect(saved.fork).toBeUndefined();
});

// prettier-ignore
test.each<[string, readonly string[], RegExp]>([
  ['nothing', [], /^a\.jsonl: found a file without any metric, expected lines of updates\./],
  ['text', ['hello', ''], /^line 1: found hello, expected a JSON object\./],
  ['a list', ['[1]', ''], /^line 1: found \[1\], expected a JSON object\./],
  ['two runs', [...LOG.slice(0, 3), ...LOG], /^line 4: found the beginning of another run, expected one run\./],
  ['updates that fall', ['{"update":2}', '{"update":2}', ''], /^line 2: found update 2 after 2, expected updates that rise\./],
  ['half an update', ['{"update":0.5}', ''], /^line 1: found update 0\.5 after -1, expected updates that rise\./],
  ['a word for a number', ['{"update":1,"rollout/success":"x"}', ''], /^line 1: rollout\/success: found "x", expected a number\./],
  ['another version', [HEAD.replace('"version":1', '"version":7'), ''], /^line 1: found version 7, expected version 1\./],
  ['no backend', [HEAD.replace('"kind":"cpu"', '"kind":"abacus"'), ''], /^line 1: run\.backend: found an object, expected a kind, gpu or cpu, and an adapter\./],
  ['knobs that are none', [HEAD.replace('"seed":9', '"seed":-9'), ''], /^line 1: run\.begun: these knobs can’t be read: seed: -9 isn’t a whole number/],
  ['rollouts', ['{"input":"a","output":"b","score":1}', ''], /^line 1: found update nothing after -1, expected updates that rise\./],
])('a log that is %s is refused with its line, what was got and what is wanted', (_, lines, told) => {
  expect(() => readLog(lines.join('\n'), FILE)).toThrow(told);
});

test('1,000 logs that were changed at random are read, or refused by a ProblemError of one line', () => {
  const text = LOG.join('\n');
  const changes = replacement(text, ['\u202e', '\0', '"', '}', '\n', '1e999', '-', '__proto__', '[[[['], 8);
  let refused = 0;
  const judge = (change: Parameters<typeof replaced>[1]) => {
    try {
      readLog(replaced(text, change), FILE);
    } catch (error) {
      expect(error).toBeInstanceOf(ProblemError);
      expect(String(error)).toMatch(/^ProblemError: [^\n]+$/);
      refused++;
    }
  };
  fc.assert(fc.property(changes, judge), { seed: 5, numRuns: 1000 });
  expect(refused).toBeGreaterThan(333);
});

test('a log, a saved folder and a folder of a sweep open as runs of the list, drawn; their other files are passed over', async () => {
  await openFiles([
    placed('job/metrics.jsonl', LOG.slice(2, 4).join('\n')),
    placed('job/playground.json', JSON.stringify({ run: MANIFEST })),
    placed('job/config.json', '{}'),
    placed('job/model.safetensors', ''),
    placed('out/table.json', '{}'),
    placed('out/runs/b.json', JSON.stringify(result('clipHigh=0.2', 1))),
    placed('out/runs/b.json.77.tmp', '{'),
  ]);
  expect(useOpenedFiles.getState()).toMatchObject({ words: 'Opened 2 runs.', problems: [] });
  const { runs, slots } = useRuns.getState();
  expect(runs.map(({ id, name }) => [id, name])).toEqual([[2, 'clipHigh=0.2, seed 1'], [1, 'Bandit: seed 9']]); // prettier-ignore
  expect(slots.slice(0, 3)).toEqual([1, 2, null]);
  expect([points(0, 'rollout/success'), points(0, 'eval/success')]).toEqual([[[1, 0.25], [2, 0.5]], [[0, 0], [2, 0.5]]]); // prettier-ignore
  expect(points(1, 'rollout/success')).toEqual([[1, 0.5], [2, 0.75]]); // prettier-ignore
});

test('the log of a run that the page saves opens again, there and on the command line, with the same numbers and what happened on its way', async () => {
  const { logOf } = await import('../../src/page/files/wholeRun.ts');
  const changes = [{ update: 1, text: 'learning rate' }];
  const trap = { state: 'trap', since: 2, kind: null, evidence: [], remedies: [] } as const;
  const run = { ...readLog(LOG.join('\n'), FILE), changes, skipped: 2, health: [{ update: 2, health: trap }] };
  vi.stubGlobal('location', { origin: 'http://lab.example', pathname: '/' });
  const text = logOf({ ...run, arm: 'B' });
  vi.unstubAllGlobals();
  expect(JSON.parse(text.split('\n', 1).join(''))).toMatchObject({ complete: false, arm: 'B' });
  expect(text).toContain('"address":"http://lab.example/#/lab?v=2&env=bandit');
  await openFiles([placed('run-1.jsonl', text)]);
  const [again] = useRuns.getState().runs;
  expect({ ...again, series: null, diagnosis: null }).toEqual({ ...run, id: 1, series: null, diagnosis: null });
  for (const [name, { points: numbers }] of run.series) expect(again?.series.get(name)?.points).toEqual(numbers);
  expect(resultFromRun(again!, 'sweep')).toEqual(resultFromRun(run, 'sweep'));
});

test('an experiment’s numbers are no run: the folder that has its runs is named', async () => {
  await openFiles([placed('ablation.jsonl', `${JSON.stringify(result('ppo-both', 1))}\n`)]);
  expect(useOpenedFiles.getState().problems[0]).toMatch(/^ablation\.jsonl: These are the numbers of an experiment’s table\. Its runs are in the folder of the same name/); // prettier-ignore
});

test('what does not read is told by file; runs that are there keep their place when there is no room', async () => {
  await openFiles([
    placed('x/bad.jsonl', '{"update":1}\n{"update":0}\n'),
    placed('x/b.json', '{'),
    placed('x/c.json', '{}'),
  ]);
  expect(useOpenedFiles.getState().problems).toEqual([
    expect.stringMatching(/^x\/b\.json: No metrics found/),
    expect.stringMatching(/^x\/bad\.jsonl: line 2: found update 0 after 1/),
    expect.stringMatching(/^x\/c\.json: No metrics found/),
  ]);
  await openFiles(Array.from({ length: 30 }, (_, i) => placed(`runs/${i}.json`, JSON.stringify(result(`a=${i}`, i)))));
  expect(useRuns.getState().runs).toHaveLength(24);
  expect(useOpenedFiles.getState().problems).toEqual([
    '6 more didn’t fit: the list holds 24 runs. Delete some and open them again.',
  ]);
  const before = useRuns.getState().runs;
  await openFiles([placed('a.jsonl', LOG.join('\n'))]);
  expect(useRuns.getState().runs).toEqual(before);
  await openFiles([placed('picture.png', '')]);
  expect(useOpenedFiles.getState().problems[0]).toMatch(/^No run found in picture\.png\. Choose a log/);
});

const verlLog = (entries: number) =>
  Array.from({ length: entries }, (_, i) => {
    const data = { 'critic/score/mean': 0.3, 'critic/score/min': 0, 'critic/score/max': 1, 'tool_call_counts/mean': i < 20 ? 2 : 0.5, 'timing_s/gen': 3 }; // prettier-ignore
    return `${JSON.stringify({ step: i + 1, data })}\n`;
  }).join('');

test('what the doctor found in a log, and its curves, are there after a reload; a part that isn’t valid takes the run with it', async () => {
  await openFiles([placed('gsm8k.jsonl', verlLog(40))]);
  const [run] = useRuns.getState().runs;
  expect(run?.diagnosis?.findings).toMatchObject([
    { illness: 'still', metric: 'critic/score/mean' },
    { illness: 'calls', from: 27, metric: 'tool_call_counts/mean' },
  ]);
  expect([...run!.foreign!.keys()]).toEqual(['timing_s/gen']);
  const again = readRun(runText(run!));
  expect(again?.diagnosis).toEqual(run?.diagnosis);
  expect(again?.series.get('tool_call_counts/mean')?.plotted).toEqual(
    run?.series.get('tool_call_counts/mean')?.plotted,
  );
  const { sum: _, ...fields } = JSON.parse(runText(run!)) as Record<string, object>; // without a checksum every part is looked at
  expect(readRun(JSON.stringify(fields))?.diagnosis).toEqual(run?.diagnosis);
  const [finding] = run!.diagnosis!.findings;
  for (const wrong of [
    { entries: -1 },
    { steps: [1] },
    { notes: [1] },
    { log: {} },
    { findings: [{ ...finding, illness: 'flu' }] },
    { findings: [{ ...finding, metric: 'x' }] },
    { findings: [{ ...finding, from: 'a' }] },
  ])
    // prettier-ignore
    expect(readRun(JSON.stringify({ ...fields, diagnosis: { ...fields['diagnosis'], ...wrong } }))).toBeNull();
});

test('a followed log takes the place of its run as it grows, as the checkpoints of a run do; without metrics it waits', async () => {
  const followed = new Map<string, number>();
  const storage = new Map<string, string>();
  vi.stubGlobal('localStorage', { getItem: (key: string) => storage.get(key) ?? null, setItem: (key: string, text: string) => storage.set(key, text), removeItem: (key: string) => storage.delete(key) }); // prettier-ignore
  vi.useFakeTimers({ now: 1_000_000, toFake: ['Date'] }); // a File says when it was made
  await openFiles([placed('logs/a/metrics.csv', 'step,reward\n1,0.5\n'), placed('job.log', 'Loading weights\n')], followed);
  expect(useOpenedFiles.getState()).toMatchObject({ words: 'Opened 1 run.', problems: [] });
  vi.setSystemTime(2_000_000);
  await openFiles([placed('logs/a/metrics.csv', 'step,reward\n1,0.5\n2,1\n')], followed);
  const state = (step: number) => JSON.stringify({ best_metric: null, log_history: [{ step, reward: 1 }] });
  await openFiles([10, 9].map((step) => placed(`out/checkpoint-${step}/trainer_state.json`, state(step))), followed);
  expect(useRuns.getState().runs.map(({ id, name, update }) => [id, name, update])).toEqual([
    [2, 'out/checkpoint-10/trainer_state.json, unknown program', 10],
    [1, 'logs/a/metrics.csv, unknown program', 2],
  ]);
  await openFiles([placed('job.log', 'step:1 - critic/score/mean:0.5\n'), placed('b.csv', 'step,reward\nx,1\n')], followed);
  expect(useOpenedFiles.getState()).toMatchObject({ words: 'Opened 1 run.', problems: [expect.stringMatching(/^b\.csv: Line 2: step: found x/)] });
  deleteRun(1);
  await openFiles([placed('logs/a/metrics.csv', 'step,reward\n1,0.5\n3,1\n')], followed);
  expect(useRuns.getState().runs.map(({ id }) => id)).toEqual([3, 2]); // a deleted one stays away
  vi.useRealTimers();
  vi.unstubAllGlobals();
}); // prettier-ignore

test('a log that was rotated is one run, its oldest part first, whether it is followed or opened', async () => {
  const entries = (...steps: readonly number[]) => steps.map((step) => `{"step": ${step}, "data": {"critic/score/mean": ${step}}}\n`).join(''); // prettier-ignore
  const old = new Uint8Array(gzipSync(entries(1, 2)));
  const damaged = { path: 'metrics.jsonl.3.gz', file: new File([old.slice(0, -9)], 'metrics.jsonl.3.gz') };
  const parts = [
    placed('metrics.jsonl', entries(5) + entries(4).replace(': 4}', ': 40}')), // a job that went on logs a step again
    placed('metrics.jsonl.1', entries(3, 4)),
    { path: 'metrics.jsonl.2.gz', file: new File([old], 'metrics.jsonl.2.gz') },
  ];
  const followed = new Map<string, number>();
  await openFiles([placed('metrics.jsonl', entries(1, 2))], followed);
  await openFiles([...parts, damaged], followed);
  expect(useOpenedFiles.getState().problems).toEqual([expect.stringMatching(/^metrics\.jsonl\.3\.gz: unexpected EOF/)]);
  await openFiles(parts);
  const listed = useRuns.getState().runs.map(({ name, series }) => [name, series.get('critic/score/mean')?.points.y]);
  expect(listed).toEqual(Array(2).fill(['metrics.jsonl, verl', Float64Array.of(1, 2, 3, 40, 5)]));
});

/** A worker that reads runs as the page's does, and sends them as a browser would: cloned, with their memory moved. */
class Reading {
  static ended = 0;
  onmessage: ((message: { readonly data: ReaderEvent }) => void) | null = null;
  postMessage(command: ReaderCommand): void {
    if (command.type !== 'run') return;
    const { id, file } = command;
    const whole = { ...file, file: new Blob([big]) }; // the page's own cannot be read: see below
    void readMetricFile(whole).then(({ run: read, diagnosis }) => {
      const { run, transferred } = sentRun(read);
      this.onmessage?.({
        data: structuredClone({ type: 'run' as const, id, read: { run, diagnosis } }, { transfer: [...transferred] }),
      });
    });
  }
  terminate(): void {
    Reading.ended++;
  }
}
const big = [
  HEAD,
  ...Array.from({ length: 20_000 }, (_, i) =>
    updateLine(i + 1, { 'rollout/success': (i % 7) / 7, 'time/update': 0.1 }),
  ),
].join('\n');

test('a log of more than a MiB is read by a worker: the page converts none of its bytes, and has every point and what is drawn of them', async () => {
  vi.stubGlobal('Worker', Reading);
  const { file } = placed('big.jsonl', big);
  expect(file.size).toBeGreaterThan(2 ** 20);
  const refused = () => Promise.reject(new Error('read on the main thread'));
  for (const name of ['text', 'arrayBuffer', 'stream'] as const) Object.defineProperty(file, name, { value: refused });
  await openFiles([{ path: 'big.jsonl', file }]);
  vi.unstubAllGlobals();
  expect(useOpenedFiles.getState().problems).toEqual([]);
  const [run] = useRuns.getState().runs;
  const here = readLog(big, { name: 'big.jsonl', written: MANIFEST.started });
  for (const [name, series] of here.series) {
    const sent = run!.series.get(name)!;
    expect(sent.state).toEqual(series.state);
    expect([sent.firstValue, sent.lastUpdate, sent.lastValue, sent.length, sent.lastSmoothed, sent.openingMean]).toEqual([series.firstValue, series.lastUpdate, series.lastValue, series.length, series.lastSmoothed, series.openingMean]); // prettier-ignore
    for (const each of [sent, series]) each.push(20_001, 0.5); // it could go on
    expect(sent.state).toEqual(series.state);
  }
  expect(Reading.ended).toBe(1);
});
