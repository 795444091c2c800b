import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { contradictions } from '../../src/config/contradictions.ts';
import { whyIdle } from '../../src/config/idle.ts';
import { COUNTERPARTS } from '../../src/handover/mapping.ts';
import { presetConfig } from '../../src/page/knobs/configStore.ts';
import { type Answer, RECORDED_SEEDS } from '../../src/page/learn/answer.ts';
import { ANSWERS, answerNamed } from '../../src/page/learn/answerList.ts';
import type { Finding } from '../../src/page/learn/exercise.ts';
import { keyOf } from '../../src/page/learn/exerciseResult.ts';
import { fill } from '../../src/page/learn/fill.ts';
import { answerHash } from '../../src/page/learn/learnAddress.ts';
import { RECORDED } from '../../src/page/learn/recordedAnswers.ts';
import { readHash, routeOf, subpathOf } from '../../src/page/address/hash.ts';
import { trainedArm } from '../../tools/answers/trainedArm.ts';

const RAW = 'docs/journal/raw/2026-11-29-answers.jsonl';

interface RawRun extends Finding {
  readonly question: string;
  readonly trial: string;
  readonly seed: number;
}

const answers: readonly Answer[] = ANSWERS;
const trials = answers.flatMap((answer) =>
  answer.trials.map((trial) => ({ name: keyOf(answer.id, trial.id), answer, trial })),
);
const configOf = ({ trial }: (typeof trials)[number]) => ({
  ...presetConfig(trial.arms[0].preset),
  ...trial.arms[0].set,
});

test.each(answers.map((answer) => [answer.id, answer] as const))('%s: its link opens it', (id, answer) => {
  const hash = answerHash(id);
  expect([routeOf(hash), readHash(hash).corrections]).toEqual(['answers', []]);
  expect(answerNamed(subpathOf(hash))).toBe(answer);
});

test.each(answers.map((answer) => [answer.id, answer] as const))(
  '%s: what happens and what cures it differ, in a knob that is named',
  (id, answer) => {
    const configs = trials.filter((each) => each.answer.id === id).map(configOf);
    const [illness] = configs;
    const cure = configs.at(-1);
    if (!illness || !cure) throw new Error('want two trials');
    const different = (Object.keys(illness) as (keyof typeof illness)[]).filter((knob) => illness[knob] !== cure[knob]);
    expect(different.filter((knob) => answer.knobs.includes(knob))).not.toEqual([]);
    for (const knob of answer.knobs) expect(Object.keys(COUNTERPARTS)).toContain(knob);
  },
);

test.each(trials.map((each) => [each.name, each] as const))(
  '%s: its knobs can run together and all have an effect',
  (_, each) => {
    const config = configOf(each);
    expect(contradictions(config)).toEqual([]);
    const knobs = Object.keys(each.trial.arms[0].set) as (keyof typeof config)[];
    expect(knobs.map((knob) => whyIdle(knob, config)).filter((why) => why !== null)).toEqual([]);
    expect(each.trial.arms[0].updates).toBeLessThanOrEqual(40);
  },
);

test.each(trials.map((each) => [each.name, each] as const))(
  '%s: three recorded seeds show it, and its sentence has their numbers',
  (name, { trial }) => {
    const recorded = RECORDED[name] ?? [];
    expect(recorded.map(({ answer }) => answer)).toEqual(['yes', 'yes', 'yes']);
    for (const { numbers } of recorded) {
      expect(fill(trial.seen, numbers)).not.toMatch(/n\/a|[{}]/);
      for (const [, number = ''] of trial.seen.matchAll(/\{(\w+):/g)) expect(Object.keys(numbers)).toContain(number);
    }
  },
);

test.each([
  ['entropy', 'cure'],
  ['turn-reward', 'illness'],
  ['turn-reward', 'cure'],
] as const)('%s, %s: the success that its limits name is the recorded one', (id, trial) => {
  const after = (RECORDED[keyOf(id, trial)] ?? []).map(({ numbers }) => Math.round(100 * (numbers['after'] ?? NaN)));
  expect(after).toHaveLength(3);
  for (const percent of after) expect(answerNamed(id)?.limits).toMatch(new RegExp(`\\b${percent}\\b`));
});

test('the recorded findings are those of the runs in the journal', () => {
  const runs = readFileSync(RAW, 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as RawRun);
  const findings = (key: string) =>
    runs
      .filter(({ question, trial }) => keyOf(question, trial) === key)
      .map(({ answer, numbers }) => ({ answer, numbers }));
  expect(runs.map(({ seed }) => seed)).toEqual(trials.flatMap(() => RECORDED_SEEDS));
  expect(Object.fromEntries(trials.map(({ name }) => [name, findings(name)]))).toEqual(RECORDED);
});

test('a trial that is trained again shows the recorded numbers', async () => {
  const [, , , , { trial, name } = trials[0]!] = trials;
  const { numbers } = trial.findingOf([await trainedArm(trial.arms[0], RECORDED_SEEDS[0])]);
  const recorded = RECORDED[name]?.[0]?.numbers ?? {};
  // recorded with five digits
  for (const [key, value] of Object.entries(numbers)) expect(value).toBeCloseTo(recorded[key] ?? NaN, 4);
});

test('a trial that is evaluated in full ends at its run’s last update, the only one after which tasks of other kinds are played', () => {
  const arms = ANSWERS.flatMap(({ trials }: Answer) => trials.flatMap((trial) => trial.arms));
  const full = arms.filter(({ set }) => set.evaluation === 'full');
  expect(full.length).toBeGreaterThan(0);
  for (const { set, updates } of full) expect(set.updates).toBe(updates);
});
