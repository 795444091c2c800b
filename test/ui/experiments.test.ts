import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { parseConfig } from '../../src/config/config.ts';
import { EXPERIMENTS } from '../../src/experiments/experimentList.ts';
import { PRESETS } from '../../src/config/presets.ts';
import { readHash, routeOf } from '../../src/page/address/hash.ts';
import { defaultPlan, planHash, readPlan } from '../../src/page/experiments/planAddress.ts';
import { costOf } from '../../src/page/experiments/experimentCost.ts';
import { parseRequest, plannedRunOf, type RunRequest } from '../../src/page/experiments/requests.ts';
import { loadQueue, saveQueue } from '../../src/page/experiments/storage.ts';

const KEY = 'rollout-playground-experiments';
const REQUEST: RunRequest = { experiment: 'ablation', arm: 'ppo-both', seed: 2, updates: 5, backend: 'cpu' };
const RESULT = {
  version: 1,
  experiment: 'ablation',
  arm: 'ppo-both',
  seed: 1,
  config: { backend: 'cpu' },
  backend: 'cpu: one core',
  metrics: {},
  curve: [0.5, 0.5],
  heldOut: [],
  health: [],
  skipped: 0,
  seconds: 3,
} as const;

class FakeStorage {
  readonly items = new Map<string, string>();
  refuses: Error | null = null;
  getItem(key: string): string | null {
    return this.items.get(key) ?? null;
  }
  setItem(key: string, text: string): void {
    if (this.refuses) throw this.refuses;
    this.items.set(key, text);
  }
}
let storage: FakeStorage;
beforeEach(() => {
  storage = new FakeStorage();
  vi.stubGlobal('localStorage', storage);
});
afterEach(() => vi.unstubAllGlobals());

describe('the address', () => {
  it('names the screen, and the lab where it names none', () => {
    for (const hash of ['#/experiments', '#/experiments?experiment=ablation', '#/experiments/'])
      expect(routeOf(hash)).toBe('experiments');
    for (const hash of ['#/?v=1', '#/lab?v=1', '#/ablate', '#/experimental', '#/nowhere'])
      expect(routeOf(hash)).toBe('lab');
  });

  it('of this screen holds no knobs of the lab', () => {
    const { config, corrections } = readHash('#/experiments?experiment=ablation&seeds=2');
    expect(config).toEqual(parseConfig(PRESETS['number-hunt'].set));
    expect(corrections).toEqual([]);
  });

  it('comes back as the same plan and holds only what differs', () => {
    expect(planHash(defaultPlan('ablation'))).toBe('#/experiments?experiment=ablation');
    const plan = {
      experiment: 'algorithms',
      seeds: 2,
      arms: ['ppo', 'reinforce++'],
      updates: 7,
      backend: 'cpu',
    } as const;
    expect(readPlan(planHash(plan))).toEqual({ plan, corrections: [] });
  });

  it('is put right where it asks for what is not there, and says so', () => {
    const { plan, corrections } = readPlan(
      '#/experiments?experiment=chess&seeds=99&updates=x&backend=quantum&arms=a,number-hunt',
    );
    expect(plan).toEqual({ ...defaultPlan('learning'), seeds: 20, arms: ['number-hunt'] });
    expect(corrections).toHaveLength(5);
    expect(corrections.join('\n')).toContain('seeds: 99 isn’t a whole number from 1 to 20. Set to 20.');
  });
});

describe('the storage', () => {
  const stored = {
    waiting: [REQUEST],
    failed: [{ ...REQUEST, seed: 3, message: 'lost' }],
    results: [RESULT],
    running: true,
  };

  it('gives back what was saved', () => {
    expect(loadQueue()).toEqual({ stored: { waiting: [], failed: [], results: [], running: false }, problem: null });
    expect(saveQueue(stored)).toBeNull();
    expect(loadQueue()).toEqual({ stored, problem: null });
  });

  it.each([
    ['{"version":1,"res', /are damaged and can’t be read/],
    ['null', /are damaged/],
    ['{"version":99}', /another version/],
    ['{"version":1,"waiting":[],"failed":[],"results":7,"running":false}', /are damaged/],
  ])('puts %s aside and starts anew', (text, words) => {
    storage.setItem(KEY, text);
    const { stored: read, problem } = loadQueue();
    expect(read.results).toEqual([]);
    expect(problem).toMatch(words);
    expect(storage.getItem(`${KEY}-unreadable`)).toBe(text);
  });

  it('leaves out single results and requests that make no sense', () => {
    const bad = [{ ...RESULT, curve: 'x' }, 7, RESULT];
    storage.setItem(KEY, JSON.stringify({ version: 1, ...stored, results: bad, waiting: [{ ...REQUEST, arm: 'x' }] }));
    const { stored: read, problem } = loadQueue();
    expect(read.results).toEqual([RESULT]);
    expect(read.waiting).toEqual([]);
    expect(problem).toBe('2 of 3 stored results, 1 of 1 waiting runs could not be read and were left out.');
  });

  it('says why it cannot save, and goes on', () => {
    storage.refuses = new DOMException('', 'QuotaExceededError');
    expect(saveQueue(stored)).toMatch(/Not saved: this site’s storage is full/);
    storage.refuses = new DOMException('', 'SecurityError');
    expect(saveQueue(stored)).toMatch(/Not saved: the browser blocks storage/);
  });
});

describe('a request', () => {
  it('means a run with all its knobs', () => {
    expect(plannedRunOf(REQUEST)).toMatchObject({
      arm: 'ppo-both',
      seed: 2,
      config: { seed: 2, updates: 5, backend: 'cpu', distractors: 6, estimator: 'gae' },
    });
  });

  it('is refused when it is not one', () => {
    expect(parseRequest(REQUEST)).toEqual(REQUEST);
    for (const bad of [
      null,
      'x',
      { ...REQUEST, seed: 0 },
      { ...REQUEST, backend: 'x' },
      { ...REQUEST, experiment: 'toString' },
    ])
      expect(parseRequest(bad)).toBeNull();
  });
});

describe('what runs will cost', () => {
  const asked = (changes: Partial<RunRequest>): RunRequest => ({ ...REQUEST, ...changes });
  const UPDATES = RESULT.curve.length;
  const guessed = EXPERIMENTS.ablation.secondsPerUpdate;

  it('is each run’s own updates times the guess before any was finished', () => {
    const runs = [asked({ updates: 5 }), asked({ updates: 7, seed: 3 })];
    const cost = costOf(runs, [], []);
    expect(cost).toMatchObject({ updates: 12, isMeasured: false });
    expect(cost.seconds).toBeCloseTo(12 * guessed, 9);
  });

  it('is what the same arm took on the same backend, for as many updates', () => {
    const [arm] = [RESULT.arm];
    expect(costOf([asked({ arm, updates: 2 * UPDATES })], [RESULT], [])).toEqual({
      seconds: 2 * RESULT.seconds,
      updates: 2 * UPDATES,
      isMeasured: true,
    });
    const elsewhere = costOf([asked({ arm, updates: UPDATES, backend: 'gpu' })], [RESULT], []);
    expect(elsewhere).toEqual({ seconds: UPDATES * guessed, updates: UPDATES, isMeasured: false });
  });

  it('of an arm not yet finished here is what was shipped, times how much slower than shipped this machine was', () => {
    const other = EXPERIMENTS.ablation.arms.find((arm) => arm.key !== RESULT.arm)?.key ?? '';
    const shipped = [
      { ...RESULT, seconds: RESULT.seconds / 3 },
      { ...RESULT, arm: other, seconds: 10 },
    ];
    const runs = [asked({ arm: other, updates: UPDATES })];
    expect(costOf(runs, [], shipped)).toEqual({ seconds: 10, updates: UPDATES, isMeasured: false });
    expect(costOf(runs, [RESULT], shipped)).toMatchObject({ seconds: 30, isMeasured: true });
  });

  it('counts what a preset imitates before its first update', () => {
    const run = { experiment: 'learning', arm: 'number-hunt-expert', seed: 1, updates: null, backend: 'cpu' } as const;
    const alone = { ...run, arm: 'number-hunt' };
    const [imitated, trained] = [costOf([run], [], []), costOf([alone], [], [])];
    expect([imitated.updates, trained.updates]).toEqual([1, 160]);
    // 840 steps of imitation for one update of reinforcement
    expect(imitated.seconds).toBeGreaterThan(0.5 * trained.seconds);
    expect(imitated.seconds).toBeLessThan(2 * trained.seconds);
  });
});
