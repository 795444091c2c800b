import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { parseConfig } from '../../src/config/config.ts';
import { checksumOf } from '../../src/base/checksum.ts';
import { EXPERIMENT_NAMES, EXPERIMENTS } from '../../src/experiments/experimentList.ts';
import { firstSeeds, plannedRuns, planOf } from '../../src/experiments/experimentPlan.ts';
import { planText } from '../../src/experiments/sweepFile.ts';
import { resultTable } from '../../src/experiments/resultTable.ts';
import {
  changedFile,
  ownExperiment,
  valueArms,
  valuesFile,
  valuesOf,
  withChoice,
} from '../../src/page/experiments/ownExperiment.ts';
import { PRESETS } from '../../src/config/presets.ts';
import { readHash, routeOf } from '../../src/page/address/hash.ts';
import { defaultPlan, fileHash, planHash, readPlan } from '../../src/page/experiments/planAddress.ts';
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
    expect(readPlan(planHash(plan))).toEqual({ plan, file: null, corrections: [] });
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

const FILE = valuesFile(parseConfig({ ...PRESETS['number-hunt'].set, backend: 'cpu' }), 'gamma', [1, 0.9]);

describe('an experiment of one’s own', () => {
  it('is these settings with each value of a knob, compared with the first', () => {
    const { plan } = ownExperiment('own-1', FILE);
    const runs = plannedRuns(plan);
    expect(runs.map(({ arm, seed, config }) => [arm, seed, config.gamma])).toEqual(
      [1, 2, 3].flatMap((seed) => [['Discount γ 1', seed, 1], ['Discount γ 0.9', seed, 0.9]]), // prettier-ignore
    );
    expect(runs[0]?.config).toEqual(parseConfig({ ...PRESETS['number-hunt'].set, backend: 'cpu', gamma: 1, seed: 1 }));
    expect(plan.experiment.arms.map(({ comparedWith }) => comparedWith)).toEqual([undefined, 'Discount γ 1']);
  });

  it('is read back by the form, whose changes are changes of the file', () => {
    const own = ownExperiment('own-1', FILE);
    expect(valuesOf(own)).toEqual({ knob: 'gamma', values: [1, 0.9] });
    const changed = ownExperiment('own-1', withChoice(own, { seeds: 2, updates: 5, backend: 'auto' }));
    expect(plannedRuns(changed.plan).map(({ seed, config }) => [seed, config.updates, config.backend])).toEqual(
      [1, 1, 2, 2].map((seed) => [seed, 5, 'auto']),
    );
    const seedsOnly = ownExperiment('own-1', changedFile(own, { arms: valueArms(null, []) }));
    expect(valuesOf(seedsOnly)).toEqual({ knob: null, values: [] });
    expect(valuesOf(ownExperiment('own-1', planText(planOf(defaultPlan('ablation')))))).toBeNull();
  });

  it('is refused with the arm whose settings contradict each other, and with more runs than a page should train', () => {
    const own = ownExperiment('own-1', FILE);
    const heads = changedFile(own, { set: { width: 32, kvHeads: 1 }, arms: valueArms('heads', [2, 3]) });
    expect(() => ownExperiment('own-1', heads)).toThrow(/Heads 3: heads: 3, but width 32 must be a multiple of it/);
    const many = changedFile(own, { seeds: firstSeeds(600) });
    expect(() => ownExperiment('own-1', many)).toThrow(/plans 1200 runs, and the limit is 1000/);
  });

  it('is in its link, as the file that the command line runs; so is every listed experiment', () => {
    const own = new Map([['own-1', ownExperiment('own-1', FILE)]]);
    const { file, corrections } = readPlan(planHash(defaultPlan('own-1', own), own));
    expect(corrections).toEqual([]);
    expect(JSON.parse(file ?? '')).toEqual(JSON.parse(FILE));
    for (const name of EXPERIMENT_NAMES) {
      const text = planText(planOf(defaultPlan(name)));
      expect(JSON.parse(readPlan(fileHash(text) ?? '').file ?? '')).toEqual(JSON.parse(text));
    }
  });

  it('has no link if it is too long, and a damaged link is told', () => {
    // hexadecimal digits of checksums don't pack well: 20,000 of them stay above the 8,000 characters of an address
    const labels = Array.from(
      { length: 500 },
      (_, i) => `${checksumOf([i])}${checksumOf([i, 1])}${checksumOf([i, 2])}`,
    );
    const long = ownExperiment('own-1', changedFile(ownExperiment('own-1', FILE), { seeds: [1], arms: labels.map((label) => ({ label })) })); // prettier-ignore
    expect(fileHash(long.text)).toBeNull();
    const own = new Map([['own-1', long]]);
    expect(planHash(defaultPlan('own-1', own), own)).toBe('#/experiments?experiment=own-1');
    expect(readPlan('#/experiments?experiment=own-1', own).plan).toEqual(defaultPlan('own-1', own));
    const cut = readPlan((fileHash(FILE) ?? '').slice(0, -20));
    expect([cut.file, cut.corrections]).toEqual([
      null,
      [expect.stringMatching(/^file: the link is damaged or cut off/)],
    ]);
  });

  it('survives a reload with its queue; one that cannot be read is left out and kept aside', () => {
    const own = new Map([['own-1', ownExperiment('own-1', FILE)]]);
    const request: RunRequest = { experiment: 'own-1', arm: 'Discount γ 0.9', seed: 2, updates: null, backend: 'cpu' };
    const stored = { waiting: [request], failed: [], results: [], running: true, own };
    saveQueue(stored);
    expect(loadQueue()).toEqual({ stored, problem: null });
    const text = JSON.stringify({ version: 1, ...stored, own: [['own-1', FILE], ['own-2', '{"arms":7}'], ['__proto__', FILE]] }); // prettier-ignore
    storage.setItem(KEY, text);
    const read = loadQueue();
    expect([...read.stored.own.keys()]).toEqual(['own-1']);
    expect(read.stored.waiting).toEqual([request]);
    expect(read.problem).toBe('2 of 3 experiments of your own could not be read and were left out.');
    expect(storage.getItem(`${KEY}-unreadable`)).toBe(text);
  });

  it('keeps the results of the arms that stay, whichever experiment they were run for', () => {
    const own = new Map([['own-1', ownExperiment('own-1', planText(planOf({ ...defaultPlan('ablation'), backend: 'cpu' })))]]); // prettier-ignore
    const run = plannedRunOf({ ...REQUEST, updates: null })!;
    const result = { ...RESULT, seed: run.seed, config: run.config };
    const choice = { ...defaultPlan('own-1', own), seeds: 2 };
    expect(resultTable(planOf(choice, own), [result])).toMatchObject({ done: 1, planned: 12 });
  });

  it('is opened once, changed only if the change has no problems, and deleted with its results until undo', async () => {
    vi.stubGlobal('location', { hash: '' });
    const { deleteOwn, openAddress, openFile, replaceFile, restoreDeleted, updateAndStore, useExperiments } = await import('../../src/page/experiments/experimentStore.ts'); // prettier-ignore
    const names = () => [...useExperiments.getState().own.keys()];
    openFile(FILE);
    openAddress(fileHash(FILE) ?? '');
    expect([names(), useExperiments.getState().plan.experiment]).toEqual([['own-1'], 'own-1']);
    replaceFile('own-1', FILE.replace('"gamma":0.9', '"gamma":7'));
    expect(useExperiments.getState().corrections).toEqual([expect.stringMatching(/^arms\[1\]\.set\.gamma: 7 isn’t/)]);
    replaceFile('own-1', FILE.replace('"gamma":0.9', '"gamma":0.8'));
    expect(useExperiments.getState().corrections).toEqual([]);
    openFile(FILE);
    expect(names()).toEqual(['own-1', 'own-2']);
    updateAndStore({ results: [RESULT, { ...RESULT, experiment: 'own-2' }] });
    deleteOwn('own-2');
    expect(useExperiments.getState()).toMatchObject({ results: [RESULT], plan: { experiment: 'learning' } });
    expect(loadQueue().stored.own.size).toBe(1);
    restoreDeleted();
    expect(useExperiments.getState()).toMatchObject({ results: [RESULT, { experiment: 'own-2' }], plan: { experiment: 'own-2' } }); // prettier-ignore
    expect([...loadQueue().stored.own.keys()]).toEqual(['own-1', 'own-2']);
  });
});

describe('the storage', () => {
  const stored = {
    waiting: [REQUEST],
    failed: [{ ...REQUEST, seed: 3, message: 'lost' }],
    results: [RESULT],
    running: true,
    own: new Map(),
  };

  it('gives back what was saved', () => {
    expect(loadQueue()).toEqual({
      stored: { waiting: [], failed: [], results: [], running: false, own: new Map() },
      problem: null,
    });
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
    storage.setItem(
      KEY,
      JSON.stringify({ version: 1, ...stored, own: [], results: bad, waiting: [{ ...REQUEST, arm: 'x' }] }),
    );
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
