import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { Purpose, random } from '../../src/base/rng.ts';
import { METRICS, type MetricName } from '../../src/domain/metrics.ts';
import { type Diagnosis, diagnose } from '../../src/metricLogs/diagnosis.ts';
import { nothingFoundText } from '../../src/metricLogs/diagnosisText.ts';
import { ILLNESSES } from '../../src/metricLogs/illnesses.ts';
import { readMetricFile } from '../../src/metricLogs/readMetricFile.ts';
import { answerNamed } from '../../src/page/learn/answerList.ts';
import { shippedRecording } from '../shippedRecording.ts';
import { trainerState, verlConsole } from './writtenLogs.ts';

const diagnosisOf = async (content: string) =>
  (await readMetricFile({ path: 'log', file: new Blob([content]), written: '', manifest: null })).diagnosis;
const found = ({ findings }: Diagnosis) => findings.filter(({ state }) => state !== 'ok').map(({ illness, from }) => [illness, from]); // prettier-ignore
/** A verl log of so many steps. */
const logOf = (steps: number, valuesAt: (step: number) => Readonly<Partial<Record<MetricName, number>>>) =>
  Array.from({ length: steps }, (_, i) => JSON.stringify({ step: i + 1, data: valuesAt(i + 1) })).join('\n');

test('of the recording that breaks, the doctor names a trap, and the numbers of the monitor', () => {
  const { findings } = diagnose(shippedRecording('break-it'), null);
  expect(findings[0]).toMatchObject({ illness: 'blind', state: 'trap', from: 26, until: 60 });
  expect(findings[0]?.evidence).toMatch(/The spread of rewards within a prompt is .* % of what it was/);
});

test('where only TRL’s or verl’s metrics are known, the same run is named by fewer signs; its success hasn’t fallen, nor has its reward', async () => {
  const trl = await diagnosisOf(trainerState(shippedRecording('break-it')));
  expect(found(trl)).toEqual([['flat', 5], ['entropy', 17], ['spread', 23]]);
  expect(trl.notes.join(' ')).toMatch(/reward_std is shown as “Reward spread”: in TRL 1\.16/);
  const verl = await diagnosisOf(verlConsole(shippedRecording('break-it')));
  expect(found(verl)).toEqual([['entropy', 17]]);
  expect(verl.notJudged).toContain('Most groups have no spread: the log doesn’t have “Flat groups”.');
}); // prettier-ignore

test.each(['number-hunt', 'noisy-hunt', 'calculator', 'world-facts'] as const)('nothing is found in %s, which learns, in any program’s metrics', async (preset) => {
  const run = shippedRecording(preset);
  for (const each of [diagnose(run, null), await diagnosisOf(trainerState(run)), await diagnosisOf(verlConsole(run))])
    expect(found(each)).toEqual([]);
}); // prettier-ignore

test('a validation that falls while training rises is found in the countdown recording', () => {
  const [first] = diagnose(shippedRecording('countdown'), null).findings;
  expect(first).toMatchObject({ illness: 'overfit', from: 80, metric: 'eval/success_sampled' });
});

test('tool calls that vanish while the reward stays are found, and not if the reward rises', async () => {
  const calls = (step: number) => ({ 'tool_call_counts/mean': step <= 20 ? 2 : 0.5, 'critic/score/min': 0, 'critic/score/max': 1 }); // prettier-ignore
  expect(found(await diagnosisOf(logOf(40, (step) => ({ ...calls(step), 'critic/score/mean': 0.3 }))))).toEqual([['still', 1], ['calls', 27]]); // prettier-ignore
  expect(found(await diagnosisOf(logOf(40, (step) => ({ ...calls(step), 'critic/score/mean': step / 40 }))))).toEqual([]); // prettier-ignore
});

test('a sampler that is far from the learner is found from where the mean of five entries is too high', async () => {
  const log = logOf(20, (step) => ({ 'actor/entropy': 1, 'rollout_corr/kl': step <= 10 ? 0.01 : 0.2 }));
  expect(found(await diagnosisOf(log))).toEqual([['stale', 12]]);
});

test('two entries with a sign are not a finding yet', async () => {
  const kl = new Map([[10, 1], [12, -1]]); // an estimate of the KL can be negative
  const log = logOf(20, (step) => ({ 'actor/entropy': 1, 'rollout_corr/kl': kl.get(step) ?? 0 }));
  expect(found(await diagnosisOf(log))).toEqual([]);
}); // prettier-ignore

test('a spike is found at its entry; of a log with an entry every ten steps that is said', async () => {
  const log = logOf(20, (step) => ({ 'actor/grad_norm': step === 12 ? 50 : 1, 'critic/score/mean': 0.5 }))
    .replaceAll(/"step":(\d+)/g, '"step":$10');
  const { findings, notes, notJudged } = await diagnosisOf(log);
  expect(findings).toMatchObject([{ illness: 'gradient', state: 'ok', from: 120, until: 120 }]);
  expect(notes[0]).toMatch(/^The log has an entry every 10 steps/);
  expect(notJudged[0]).toMatch(/no known scale/);
}); // prettier-ignore

// eight rollouts a step, each solved or not; the spread is that of half of them
const eightASteps = (steps: number, chanceAt: (step: number) => number) => {
  const { next } = random(7, Purpose.environment);
  const solved = (step: number) => Array.from({ length: 8 }, () => next() < chanceAt(step)).filter(Boolean).length / 8;
  return Array.from({ length: steps }, (_, i) => JSON.stringify({ step: i + 1, reward: solved(i + 1), reward_std: 0.5 })).join('\n'); // prettier-ignore
};

test.each([100, 1000])(
  'in a log of %s steps of few rollouts, scatter isn’t a fall, and a fall is one',
  async (steps) => {
    const scattered = await diagnosisOf(eightASteps(steps, () => 0.5));
    expect(found(scattered)).toEqual([['still', 1]]);
    const { findings } = await diagnosisOf(eightASteps(steps, (step) => (step > 0.3 * steps && step <= 0.6 * steps ? 0.9 : 0.2))); // prettier-ignore
    expect(findings.map(({ title }) => title)).toEqual([
      'Reward hasn’t risen',
      'Reward fell half the way to its lowest',
    ]);
    expect(findings[1]?.evidence).toMatch(
      /^The reward is [\d.]+ over the last 10 updates, down from 0\.\d+ in its best 10/,
    );
    if (steps === 1000) expect(scattered.notes[0]).toMatch(/^The log has 1000 entries\. They are read as means of 10/);
  },
);

test('success that hasn’t risen by the end is found, and not if it rises late', async () => {
  const successAt = (rise: number) => logOf(60, (step) => ({ 'rollout/success': 0.25 + (step > 45 ? rise : 0) }));
  const { findings } = await diagnosisOf(successAt(0.03));
  expect(findings).toMatchObject([{ illness: 'still', state: 'watch', from: 1, until: 60, evidence: 'Success was 25 % in the first 10 updates, and is 28 % in the last 10.' }]); // prettier-ignore
  expect(found(await diagnosisOf(successAt(0.06)))).toEqual([]);
});

test('a reward that swings by .4 from step to step has risen if it rose by more than two standard errors, .18', async () => {
  const swinging = (rise: number) => logOf(60, (step) => ({ 'critic/score/mean': (step % 2 ? 0.2 : 0.6) + (step > 30 ? rise : 0), 'critic/score/min': 0, 'critic/score/max': 1 })); // prettier-ignore
  expect(found(await diagnosisOf(swinging(0.1)))).toEqual([['still', 1]]);
  expect(found(await diagnosisOf(swinging(0.4)))).toEqual([]);
});

test('rollouts that are cut off are found if they are half of all at the end', async () => {
  const cut = (before: number, after: number) => logOf(30, (step) => ({ 'actor/entropy': 1, 'rollout/truncated': step > 20 ? after : before })); // prettier-ignore
  expect((await diagnosisOf(cut(0, 0.9))).findings).toMatchObject([{ illness: 'truncated', from: 21, until: 30 }]);
  expect(found(await diagnosisOf(cut(0.9, 0.45)))).toEqual([]);
});

test('a log with a reward alone is said to show nothing', async () => {
  const diagnosis = await diagnosisOf(logOf(40, () => ({ 'critic/score/mean': 0.5 })));
  expect(nothingFoundText(diagnosis)).toBe('Nothing found. This log has the metrics for 0 of 16 findings.');
});

test('each finding links to an answer or a chapter that exists, and needs metrics that exist', () => {
  for (const { href, metrics, needs } of Object.values(ILLNESSES)) {
    const answer = /^#\/answers\/(.+)$/.exec(href ?? '')?.[1];
    if (answer !== undefined) expect(answerNamed(answer), answer).toBeDefined();
    for (const name of [...metrics, ...needs.flat()]) expect(METRICS).toHaveProperty([name]);
  }
});

test('the rates of false alarms are those of the recorded verdicts: runs that learned, and those of them with the finding', () => {
  const lines = readFileSync('docs/journal/raw/2026-11-29-monitor/verdicts.jsonl', 'utf8').trim().split('\n');
  const verdicts = lines.map(
    (line) => JSON.parse(line) as { readonly course: string; readonly found: readonly string[] },
  );
  const learned = verdicts.filter(({ course }) => course === 'learned');
  expect([verdicts.length, learned.length]).toEqual([156, 84]);
  for (const [name, { falseAlarms }] of Object.entries(ILLNESSES)) {
    const alarms = learned.filter(({ found }) => found.includes(name)).length;
    expect([name, falseAlarms]).toEqual([name, { alarms, runs: learned.length }]);
  }
});
