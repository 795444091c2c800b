import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { shippedRecording } from '../shippedRecording.ts';
import { readMetricFile } from '../../src/metricLogs/readMetricFile.ts';
import type { ForeignMetric, MetricName } from '../../src/domain/metrics.ts';
import { metricLabel } from '../../src/page/runs/keptRun.ts';
import { seriesOf } from '../../src/runs/run.ts';
import { receivedRun, sentRun } from '../../src/runs/sentRun.ts';
import { trainerState, trlConsole, trlEvents, trlTable, verlConsole, verlFile } from './writtenLogs.ts';

const read = (content: string | Uint8Array<ArrayBuffer>, path = 'log') =>
  readMetricFile({ path, file: new Blob([content]), written: '2026-11-29T00:00:00.000Z', manifest: null });
const curve = async (content: string, metric: MetricName) => {
  const points = (await read(content)).run.series.get(metric)?.points;
  return points && Array.from(points.x, (step, i) => [step, points.y[i]]);
};
const original = shippedRecording('break-it');

// relative error: Transformers prints four significant digits, and event files have floats of 24 bits
test.each([
  ['trainer_state.json', trainerState(original), 'TRL', 0],
  ['TRL’s console', trlConsole(original), 'TRL', 5e-4],
  ['a table of wandb or trackio', trlTable(original), 'TRL', 0],
  ['TensorBoard’s events', trlEvents(original), 'TRL', 2 ** -24],
  ['verl’s console', verlConsole(original), 'verl', 0],
  ['verl’s file', verlFile(original), 'verl', 0],
])('%s of a run has its curves under the page’s names', async (_, content, program, error) => {
  const { run, diagnosis } = await read(content);
  expect(run).toMatchObject({ program, update: 60, name: `log, ${program}` });
  expect(diagnosis.log?.program).toBe(program);
  for (const metric of ['critic/score/mean', 'actor/entropy', 'actor/grad_norm', 'response_length/mean'] as const) {
    const [got, want] = [run.series.get(metric)!.points, original.series.get(metric)!.points];
    const from = want.x[0] === 0 ? 1 : 0; // logs of others begin with the first update
    expect(got.x).toEqual(want.x.slice(from));
    for (const [i, y] of got.y.entries())
      expect(Math.abs(y - want.y[from + i]!)).toBeLessThanOrEqual(error * Math.abs(want.y[from + i]!));
  }
});

const step = (fields: string) => `{"step": 1, ${fields}}\n{"step": 2, "reward": 0.5}\n`;
test.each<[string, string, MetricName, unknown]>([
  ['NaN is left out', step('"reward": NaN, "entropy": 0.1'), 'critic/score/mean', [[2, 0.5]]],
  ['a cut last line is left out', `${step('"reward": 1')}{"step": 3, "rew`, 'critic/score/mean', [[1, 1], [2, 0.5]]],
  ['steps that were logged again count once', `${step('"reward": 1')}{"step": 1, "reward": 0.25}\n`, 'critic/score/mean', [[1, 0.25], [2, 0.5]]],
  ['an evaluation joins its step', '[{"step": 5, "reward": 1}, {"step": 5, "eval_reward": 0.75}]', 'eval/score', [[5, 0.75]]],
  ['dicts without a step are counted, evaluations and the summary not', "{'loss': 0.0, 'reward': 0.25}\n{'eval_loss': 1.0, 'eval_reward': 0.5}\n{'loss': nan, 'reward': 0.75}\n{'train_runtime': 3.2}\n", 'critic/score/mean', [[1, 0.25], [2, 0.75]]],
  ['a dict that Trainer didn’t print isn’t an entry', "{'eos_token_id': 2, 'pad_token_id': 0}\n{'reward': '0.25', 'epoch': '0.1'}\n{'reward': '0.75', 'epoch': '0.2'}\n", 'critic/score/mean', [[1, 0.25], [2, 0.75]]],
  ['the chart that wandb exports has a run before each metric', '"Step","tidy-sun-7 - train/reward","tidy-sun-7 - train/reward__MIN"\n"10","0.25","0.25"\n"20","0.5","0.5"\n', 'critic/score/mean', [[10, 0.25], [20, 0.5]]],
  ['the page’s own CSV', 'update,Entropy (nats) [actor/entropy],Flat groups (1) [rollout/zero_std_groups]\r\n1,0.5,\r\n2,0.25,1\r\n', 'actor/entropy', [[1, 0.5], [2, 0.25]]],
  ['verl’s validation', 'step:0 - val-core/gsm8k/acc/mean@1:0.25\nstep:1 - actor/entropy:0.5\n', 'eval/success_sampled', [[0, 0.25]]],
])('%s', async (_, content, metric, want) => {
  expect(await curve(content, metric)).toEqual(want);
}); // prettier-ignore

test('metrics without a counterpart have curves under their own names, also if the page knows none of a log’s', async () => {
  const { diagnosis, run } = await read('step:1 - actor/entropy:0.5 - timing_s/gen:3.5\nstep:2 - timing_s/gen:nan\n');
  expect(diagnosis.log?.others).toEqual(['timing_s/gen']);
  const gen = 'timing_s/gen' as ForeignMetric;
  expect(seriesOf(run, gen)?.points).toEqual({ x: Uint32Array.of(1), y: Float64Array.of(3.5) });
  expect(metricLabel(gen, [run])).toBe('timing_s/gen');
  const { curves: _, ...sent } = sentRun(run).run;
  expect(seriesOf(receivedRun({ ...sent, curves: new Map() }), gen)?.lastValue).toBe(3.5); // from the worker
  const alone = await read('{"step": 4, "data": {"tokens_per_gpu": 9}}\n');
  expect(alone.run).toMatchObject({ update: 4, series: new Map() });
  expect(seriesOf(alone.run, 'tokens_per_gpu' as ForeignMetric)?.lastValue).toBe(9);
});

test('a log that gzip compressed is read; the last row of a table that is still written is left out', async () => {
  const packed = new Uint8Array(gzipSync(verlFile(original)));
  expect((await read(packed, 'a.jsonl.gz')).run.series.get('actor/entropy')?.length).toBe(60);
  expect(await curve('step,reward,loss\n1,0.5,0\n2,0.2', 'critic/score/mean')).toEqual([[1, 0.5]]);
});

const damaged = trlEvents(original);
damaged[200]! ^= 1;
// prettier-ignore
test.each<[string, string | Uint8Array<ArrayBuffer>, RegExp]>([
  ['a line that isn’t JSON', '{"step": 1, "reward": 1}\nhello\n{"step": 2, "reward": 1}\n', /^Line 2: found hello, expected a JSON object/],
  ['trainer_state.json that was cut', trainerState(original).slice(0, 900), /^The file isn’t JSON: /],
  ['a row with too few cells', 'step,reward,kl\n1,0.5,0\n2,0.5\n', /^Line 3: found 2 cells, expected 3 cells/],
  ['a row without a number as step', 'step,reward\n1,0.5\nx,0.5\n', /^Line 3: step: found x, expected a step/],
  ['half a step', '{"step": 1.5, "reward": 1}\n', /^Found the step 1\.5, expected a whole number/],
  ['an event with a wrong checksum', damaged, /^The record at byte \d+ is damaged/],
  ['two runs in a table', 'step,a - reward,b - reward\n1,0,1\n', /^reward is in it twice: as a - reward and as b - reward/],
  ['rollouts', '{"step": 1, "input": "a", "output": "b", "score": 1}\n', /^These are rollouts \(verl\), not metrics/],
  ['a log without a number', 'step,reward\n1,nan\n', /^None of its metrics has a number/],
  ['prose', 'Training has begun.\n', /^No metrics found\./],
  ['a picture', Uint8Array.of(137, 80, 78, 71, 0, 0, 0, 13, 0, 0, 0, 0, 0), /^This isn’t text/],
  ['nothing', '', /^No metrics found\./],
])('%s is refused with the place', async (_, content, told) => {
  await expect(read(content)).rejects.toThrow(told);
});
