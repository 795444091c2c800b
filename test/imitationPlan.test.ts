import { Purpose, random } from '../src/base/rng.ts';
import { NO_REWARD_SETTINGS } from '../src/envs/env.ts';
import { demonstrator, playToEnd } from '../src/envs/players.ts';
import { openEpisode } from '../src/envs/stepper.ts';
import { readDeclaration } from '../src/written/script/declaration.ts';
import { writtenEnvironment } from '../src/written/writtenEnvironment.ts';
import { acting, sandboxOf } from './written/machine.ts';
import { describe, expect, it, test } from 'vitest';
import { parseConfig } from '../src/config/config.ts';
import { learningRateAt, warmStartRecipe } from '../src/config/imitationRecipe.ts';
import { YOUR_ENVIRONMENT_PRESET } from '../src/config/presets.ts';
import { noProgress } from '../src/domain/progress.ts';
import type { MetricName } from '../src/domain/metrics.ts';
import { nextStep } from '../src/runs/nextStep.ts';
import { addMetrics } from '../src/runs/runLog.ts';
import type { Series } from '../src/runs/series.ts';
import type { Policy } from '../src/model/policy.ts';
import { currentDemonstrations, differentBatches, mostSteps, planAfter } from '../src/session/imitation.ts';

const triesOf = (step: number, before: number, last: number, expert = 30) =>
  [before, last].map((solved, i) => ({ step: step - 40 * (1 - i), solved, expert, played: 32 }));
const LIMITS = { most: 1000, mayGrow: true };

describe('the plan of imitation', () => {
  it('ends a quarter later than two tries in a row reach nine tenths of the expert, and not before step 120', () => {
    expect(planAfter(triesOf(200, 27, 27), LIMITS)).toEqual({ steps: 250 });
    expect(planAfter(triesOf(200, 26, 30), LIMITS)).toBe('on');
    expect(planAfter(triesOf(200, 30, 26), LIMITS)).toBe('on');
    expect(planAfter(triesOf(80, 30, 30), LIMITS)).toBe('on');
    expect(planAfter(triesOf(120, 30, 30), LIMITS)).toEqual({ steps: 150 });
  });

  it('at four fifths of the time starts again larger, unless the agent is nearly there or can’t grow', () => {
    expect(planAfter(triesOf(760, 5, 5), LIMITS)).toBe('on');
    expect(planAfter(triesOf(800, 5, 5), LIMITS)).toBe('larger');
    expect(planAfter(triesOf(800, 21, 21), LIMITS)).toEqual({ steps: 1000 });
    expect(planAfter(triesOf(800, 5, 5), { ...LIMITS, mayGrow: false })).toEqual({ steps: 1000 });
  });

  it('without an expert ends as soon as the form of a call is learned', () => {
    expect(planAfter(triesOf(120, 0, 0, 0), LIMITS)).toEqual({ steps: 150 });
  });

  it('has fewer steps the more work a step is', () => {
    expect(mostSteps(model(28_065), STEP)).toBe(1526); // 90 s at 0.059 s
    expect(mostSteps(model(280_650), STEP)).toBeLessThan(350);
    expect(mostSteps(model(28_065), { ...STEP, mayGrow: false })).toBe(3053);
    expect(mostSteps(model(28_065), { ...STEP, work: 1400 })).toBe(1213); // an expert that compares a few numbers
  });

  it('repeats the demonstrations of an expert that searches, and has at least half of the time for learning', () => {
    expect(differentBatches({ ...STEP, work: 1400 })).toBe(Infinity);
    const searching = { ...STEP, work: 20_000 }; // of a breadth-first search at each turn
    expect(differentBatches(searching)).toBe(180); // 45 s at 0.25 s
    expect(mostSteps(model(28_065), searching)).toBe(1672); // what is left of 90 s, at 0.027 s
    expect(differentBatches({ ...STEP, work: 1e6 })).toBe(32);
    expect(mostSteps(model(28_065), { ...STEP, work: 1e6 })).toBe(120);
  });
});

const model = (size: number) => ({ parameters: [{ size } as never], length: 50 });
const STEP = { rows: 64, mayGrow: true };

/** A class whose expert makes this many turns of a loop. */
const countingTo = (turns: number) => acting('this.done = true; return "ok"', '', `static tasks = { train: 10, test: 5 }; expert() { for (let i = 0; i < ${turns}; i++); return { tool: 'act', arguments: { word: 'x' } }; }`); // prettier-ignore

test('the work of a demonstration is counted: calls and loop turns of the class, each time the same', async () => {
  const workOf = async (source: string) =>
    writtenEnvironment(readDeclaration(source), await sandboxOf(source), { chatTokenizer: null, think: false })
      .demonstrationWork;
  const searching = await workOf(countingTo(20_000));
  expect(searching).toBeGreaterThan(20_000);
  expect(searching).toBeLessThan(42_000); // QuickJS counts a loop’s turn once or twice
  expect(await workOf(countingTo(20_000))).toBe(searching);
  expect(await workOf(countingTo(1))).toBeLessThan(2000);
});

/** Six presses of the button that the prompt names; a wrong one loses. */
const PRESSES = `
export default class Presses {
  static tasks = { train: 1000, test: 10 };
  static maxTurns = 6;
  right = 'a'; pressed = 0; lost = false; done = false;
  reset({ draw }) { this.right = draw.pick(['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h']); return 'a b c d e f g h press ' + this.right; }
  /** Presses a button. @param name its name */
  press(name: 'a' | 'b' | 'c' | 'd' | 'e' | 'f' | 'g' | 'h'): string {
    this.pressed++;
    if (name !== this.right) this.lost = true;
    this.done = this.pressed === 6;
    return 'on';
  }
  expert() { return { tool: 'press', arguments: { name: this.right } }; }
  getReward() { return this.lost ? 0 : 1; }
}
`;

test('in a long episode the imitated player errs so rarely that it makes no mistake in two episodes of five', async () => {
  const env = writtenEnvironment(readDeclaration(PRESSES), await sandboxOf(PRESSES), {
    chatTokenizer: null,
    think: false,
  });
  const wins = Array.from({ length: 200 }, (_, seed) => {
    const conditions = { env, settings: NO_REWARD_SETTINGS, begin: env.demonstration };
    const { quality } = warmStartRecipe(OWN);
    const draw = random(1, Purpose.demonstration, seed, 0);
    return playToEnd(openEpisode(conditions, { seed, environmentSeed: seed }), demonstrator(quality, draw)).success;
  }).filter(Boolean).length;
  expect(wins).toBeGreaterThan(65);
  expect(wins).toBeLessThan(125);
});

const OWN = parseConfig({ ...YOUR_ENVIRONMENT_PRESET.set });

test('while a run chooses, its demonstrations are shown with the largest possible number of steps', async () => {
  const env = writtenEnvironment(readDeclaration(PRESSES), await sandboxOf(PRESSES), {
    chatTokenizer: null,
    think: false,
  });
  const policy = { ...model(280_650), rows: 64, length: env.maxTokens } as unknown as Policy;
  const shown = currentDemonstrations({ policy, env, startConfig: () => OWN, progress: noProgress() });
  expect(shown).toMatchObject({ step: 1, total: mostSteps(policy, { ...STEP, work: env.demonstrationWork }) });
  expect(shown?.total).toBeLessThan(8000);
});

test('the chosen number of steps has the learning rates of the steps before it was chosen', () => {
  const [open, chosen] = [OWN, { ...OWN, imitationSteps: 250 }].map((config) => warmStartRecipe(config));
  for (const step of [0, 5, 30, 199]) expect(learningRateAt(chosen!, step)).toBe(learningRateAt(open!, step));
  expect(learningRateAt(chosen!, 249)).toBeLessThan(0.2 * learningRateAt(open!, 249));
});

test('the next step follows from what was measured', () => {
  const next = (
    values: Partial<Record<MetricName, readonly [before: number, after: number]>>,
    knobs = {},
    hasExpert = true,
  ) => {
    const series = new Map<MetricName, Series>();
    const at = (i: 0 | 1) => Object.fromEntries(Object.entries(values).map(([name, pair]) => [name, pair[i]]));
    addMetrics(series, 0, { ...(hasExpert && { 'baseline/expert': 1 }), 'baseline/random': 0.1, ...at(0) });
    addMetrics(series, 100, at(1));
    return nextStep(series, { ...OWN, ...knobs });
  };
  const stuck = { 'eval/success': [0.3, 0.3], 'eval/success_sampled': [0.2, 0.25] } as const;
  expect(next({ 'eval/success': [0.9, 1], 'eval/success_sampled': [0.4, 0.95] })).toMatch(/harder/);
  expect(next({ 'eval/success': [1, 1], 'eval/success_sampled': [0.3, 0.6] })).toMatch(/60 % sampled.*200 updates/);
  expect(next({ 'eval/success': [0.6, 0.3], 'eval/success_sampled': [0.3, 0.2] })).toMatch(/learning rate/);
  expect(next(stuck)).toMatch(/width=64 and layers=4/);
  expect(next(stuck, { width: 64, layers: 4, imitationSteps: 800 })).toMatch(/imitationSteps=1600/);
  expect(next({ ...stuck, 'baseline/numbers': [14, 14] })).toMatch(/tool that calculates.*SmolLM2/);
  expect(next({ ...stuck, 'eval/malformed_sampled': [0.5, 0.5] })).toMatch(/50 % of its turns are malformed/);
  expect(next({ ...stuck, 'baseline/expert': [0, 0] })).toMatch(/Give the class an expert\(\)/);
  // nothing is said of an expert that doesn't exist
  expect(next(stuck, {}, false)).toMatch(/25 % sampled\. Give the class an expert\(\)/);
  expect(next({ 'eval/success': [0.9, 1], 'eval/success_sampled': [0.4, 0.95] }, {}, false)).toMatch(
    /95 % sampled\. Make/,
  );
  expect(next({ ...stuck, 'baseline/expert': [0.3, 0.3] })).toMatch(/improve expert\(\)|updates/);
});
