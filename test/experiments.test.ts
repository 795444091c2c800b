import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { EXPERIMENT_NAMES, EXPERIMENTS, SHIPPED_EXPERIMENTS } from '../src/experiments/experimentList.ts';
import { isRunArm, type Experiment } from '../src/experiments/experimentDefinition.ts';
import { tableCsv, tableMarkdown } from '../src/experiments/experimentExports.ts';
import {
  differencesOf,
  plannedRuns,
  usableResult,
  planOf,
  type PlanChoice,
} from '../src/experiments/experimentPlan.ts';
import {
  parseResult,
  parseResults,
  resultFromRun,
  type RunResult,
  type RunIdentity,
} from '../src/experiments/runResult.ts';
import { meanCurve, pairedDifference, summaryOf } from '../src/base/statistics.ts';
import { shippedTable, resultTable } from '../src/experiments/resultTable.ts';
import { cellText, differenceCellText, tableNotes } from '../src/experiments/wording.ts';
import type { MetricName } from '../src/domain/metrics.ts';
import type { TrainingEvent } from '../src/domain/trainingEvent.ts';
import { runWithDefaults } from '../src/runs/run.ts';
import { type RunOpened, RunLog } from '../src/runs/runLog.ts';
import { parseConfig } from '../src/config/config.ts';

const plan = (changes: Partial<PlanChoice> = {}) =>
  planOf({ experiment: 'ablation', seeds: 3, arms: [], updates: null, backend: 'cpu', ...changes });
const READY: RunOpened = {
  type: 'ready',
  backend: { kind: 'cpu', adapter: 'one core', software: false, storage: 'f32', reason: '' },
  ...{ config: parseConfig(), update: 0, vocabulary: [] },
};
const FINISHED: TrainingEvent = { type: 'running', running: false, update: 2, finished: true };
const logOf = ({ arm, config }: RunIdentity) =>
  new RunLog(runWithDefaults({ id: 0, name: arm, arm, started: '', begun: config }));

/** A finished run whose last value of `metric` is `last`. */
function finished(run: RunIdentity, metric: MetricName, first: number, last: number): RunResult {
  const log = logOf(run);
  log.add({ ...READY, config: run.config });
  log.add({ type: 'metrics', update: 0, values: { [metric]: first } });
  log.add({ type: 'metrics', update: 1, values: { 'rollout/success': 0.5 } });
  log.add({ type: 'metrics', update: 2, values: { 'rollout/success': 0.75, [metric]: last } });
  expect(log.finished).toBe(false);
  log.add(FINISHED);
  expect(log.finished).toBe(true);
  return resultFromRun({ ...log.run, seconds: 12.5 }, run.experiment);
}

describe('the statistics', () => {
  it('take the sample deviation, n − 1', () => {
    // mean 5; squares 9 1 1 1 0 0 4 16 add up to 32
    const { n, mean, sd } = summaryOf([2, 4, 4, 4, 5, 5, 7, 9]);
    expect([n, mean]).toEqual([8, 5]);
    expect(sd).toBeCloseTo(Math.sqrt(32 / 7), 12);
    expect(summaryOf([0.25])).toEqual({ n: 1, mean: 0.25, sd: NaN });
    expect(summaryOf([])).toEqual({ n: 0, mean: NaN, sd: NaN });
  });

  it('pair equal seeds and leave out the others', () => {
    const values = new Map([
      [1, 0.5],
      [2, 0.75],
      [3, 0.25],
      [9, 1],
    ]);
    const reference = new Map([
      [1, 0.25],
      [2, 0.75],
      [3, 0.5],
    ]);
    // +.25, 0, −.25
    expect(pairedDifference(values, reference)).toMatchObject({ n: 3, mean: 0, sd: 0.25, better: 1 });
  });

  it('average curves over those that reach a position', () => {
    expect(
      meanCurve([
        [0, 1, 1],
        [1, 0],
      ]),
    ).toEqual([0.5, 0.5, 1]);
    expect(meanCurve([])).toEqual([]);
  });
});

describe('the catalogue', () => {
  it.each(EXPERIMENT_NAMES)(
    '%s: every arm can run, every reference exists, published rows fit their columns',
    (name) => {
      const experiment: Experiment = EXPERIMENTS[name];
      const keys = experiment.arms.map(({ key }) => key);
      const running = experiment.arms.filter(isRunArm).map(({ key }) => key);
      expect(new Set(keys).size).toBe(keys.length);
      expect(plannedRuns(plan({ experiment: name, seeds: 1 }))).toHaveLength(running.length);
      expect(experiment.columns.map(({ key }) => key)).toContain(experiment.headline);
      for (const arm of experiment.arms) {
        if (arm.comparedWith !== undefined) expect(running).toContain(arm.comparedWith);
        if (!isRunArm(arm)) expect(running).toContain(arm.borrowedFrom);
        if (arm.published) expect(arm.published).toHaveLength(experiment.published?.columns.length ?? 0);
      }
    },
  );

  it('keeps the batch at 128 rollouts however it is dealt', () => {
    const responses = plannedRuns(plan({ experiment: 'rollout-shaping', seeds: 1 })).filter(({ arm }) =>
      arm.startsWith('responses'),
    );
    expect(responses.map(({ config }) => config.groupSize)).toEqual([32, 16, 8, 4, 2]);
    expect(responses.every(({ config }) => config.groupSize * config.prompts === 128)).toBe(true);
  });

  it('gives all arms of the ablation one setting but for the masks and the estimator', () => {
    const varied = new Set(['estimator', 'lossMask', 'advantageMask']);
    const rest = plannedRuns(plan({ seeds: 1 })).map(({ config }) =>
      JSON.stringify(Object.entries(config).filter(([knob]) => !varied.has(knob))),
    );
    expect(rest).toHaveLength(6);
    expect(new Set(rest).size).toBe(1);
  });
});

describe('a plan', () => {
  it('goes seed by seed, and takes in the arm that a chosen row is read from', () => {
    const runs = plannedRuns(plan({ experiment: 'algorithms', arms: ['base', 'ppo'], seeds: 2 }));
    expect(runs.map(({ arm, seed }) => `${arm} ${seed}`)).toEqual(['ppo 1', 'grpo 1', 'ppo 2', 'grpo 2']);
  });

  it('reuses a result of the same knobs only, and says which differ', () => {
    const [run] = plannedRuns(plan());
    const [longer] = plannedRuns(plan({ updates: 90 }));
    if (!run || !longer) throw new Error('want runs');
    const result = finished(run, 'eval/success', 0.2, 0.4);
    expect(usableResult(run, [result])).toBe(result);
    expect(usableResult(longer, [result])).toBeUndefined();
    expect(differencesOf(result, longer)).toEqual(['updates 60 → 90']);
  });

  it('takes a knob newer than a result to have had its default', () => {
    const [run] = plannedRuns(plan());
    if (!run) throw new Error('want a run');
    const whole = finished(run, 'eval/success', 0.2, 0.4);
    const older = Object.fromEntries(Object.entries(whole.config).filter(([knob]) => knob !== 'maxGradNorm'));
    expect(differencesOf({ ...whole, config: older }, run)).toEqual([]);
  });
});

describe('a run', () => {
  const [run] = plannedRuns(plan());
  if (!run) throw new Error('want a run');

  it('leaves first, last, best and mean of every number, the curve, and where the monitor changed its mind', () => {
    const log = logOf(run);
    const health = (update: number, state: 'ok' | 'watch' | 'trap'): TrainingEvent => ({
      type: 'health',
      update,
      health: { state, since: update, kind: null, evidence: [], remedies: [] },
    });
    log.add(READY);
    const successes = [0.25, 0.5, 0.125];
    for (const [update, success] of successes.entries()) {
      log.add({ type: 'metrics', update, values: { 'eval/success': success, 'time/update': 3 } });
    }
    for (const event of [health(1, 'ok'), health(2, 'ok'), health(3, 'trap'), health(4, 'trap')]) log.add(event);
    log.add({ type: 'error', message: 'step left out', hint: '', fatal: false, fields: [] });
    const result = resultFromRun(log.run, run.experiment);
    expect(result.metrics).toEqual({ 'eval/success': { first: 0.25, last: 0.125, best: 0.5, mean: 0.291667 } });
    expect(result.heldOut).toEqual([
      [0, 0.25],
      [1, 0.5],
      [2, 0.125],
    ]);
    expect(result.health).toEqual([
      [1, 'ok'],
      [3, 'trap'],
    ]);
    expect(result.skipped).toBe(1);
    expect(result.backend).toBe('cpu: one core');
    // the newest word of a state that stays
    expect(log.run.health.at(-1)?.health.since).toBe(4);
  });

  it('says why once it failed', () => {
    const log = logOf(run);
    expect(log.failure).toBeNull();
    log.add({ type: 'error', message: 'Device lost.', hint: 'Reload.', fatal: true, fields: [] });
    expect(log.failure).toBe('Device lost. Reload.');
  });

  it('goes on from where it was saved: later points are left out, its knobs as it began stay, changes are kept', () => {
    const first = logOf(run);
    first.add({ ...READY, config: run.config });
    for (const update of [1, 2, 3]) first.add({ type: 'metrics', update, values: { 'rollout/success': update / 4 } });
    first.add({ type: 'configured', update: 2, step: 1, changes: { learningRate: 0.05 } });
    const again = new RunLog({ ...first.run, update: 2 });
    again.add({ ...READY, config: first.run.config, update: 2 });
    again.add({ type: 'metrics', update: 3, values: { 'rollout/success': 1 } });
    expect([...(again.run.series.get('rollout/success')?.points.y ?? [])]).toEqual([0.25, 0.5, 1]);
    expect([...(first.run.series.get('rollout/success')?.points.y ?? [])]).toEqual([0.25, 0.5, 0.75]);
    expect([again.run.begun, again.run.config.learningRate]).toEqual([run.config, 0.05]);
    expect(again.run.changes).toMatchObject([{ update: 2, step: 1, set: { learningRate: 0.05 } }]);
  });

  it('comes back from JSON as it was; anything else is refused', () => {
    const result = finished(run, 'eval/success', 0.2, 0.4);
    expect(parseResult(JSON.parse(JSON.stringify(result)))).toEqual(result);
    for (const bad of [
      null,
      3,
      'x',
      {},
      { ...result, version: 0 },
      { ...result, curve: ['a'] },
      { ...result, seed: '1' },
    ]) {
      expect(parseResult(bad)).toBeNull();
    }
  });
});

describe('the table', () => {
  const runs = plannedRuns(plan());
  const after: Readonly<Record<string, readonly number[]>> = {
    'ppo-both': [0.5, 0.6, 0.7],
    'ppo-no-masks': [0.3, 0.2, 0.8],
  };
  const results = runs.flatMap((run) => {
    const last = after[run.arm]?.[run.seed - 1];
    return last === undefined ? [] : [finished(run, 'eval/success', 0.2, last)];
  });
  const table = resultTable(plan(), results);
  const rowOf = (key: string) => {
    const row = table.rows.find(({ arm }) => arm.key === key);
    if (!row) throw new Error(`want a row ${key}`);
    return row;
  };
  const column = (key: string) => {
    const index = table.experiment.columns.findIndex((c) => c.key === key);
    const found = table.experiment.columns[index];
    if (!found) throw new Error(`want a column ${key}`);
    return { index, found };
  };
  const text = (arm: string, key: string) => {
    const { index, found } = column(key);
    return cellText(rowOf(arm).cells[index] ?? null, found, rowOf(arm).runs);
  };

  it('has mean ± deviation, and nothing where nothing ran', () => {
    expect(text('ppo-both', 'after')).toBe('0.600 ± 0.100');
    expect(text('ppo-both', 'before')).toBe('0.200 ± 0.000');
    expect(text('grpo-loss-mask', 'after')).toBe('–');
    expect(text('ppo-both', 'clipfrac')).toBe('–');
    expect([table.done, table.planned]).toEqual([6, 18]);
  });

  it('has paired differences to the reference arm', () => {
    // −.2, −.4, +.1: mean −1/6, squares .0011 .0544 .0711 add up to .1267
    const { difference } = rowOf('ppo-no-masks');
    expect(difference?.mean).toBeCloseTo(-1 / 6, 12);
    expect(difference?.sd).toBeCloseTo(Math.sqrt(0.38 / 3 / 2), 12);
    expect(differenceCellText(difference)).toBe(
      '−0.167 (95 %: −0.792 to +0.458), better in 1 of 3 seeds, p = 1: cannot tell (about 37 seeds like these would be enough)',
    );
    expect(rowOf('ppo-both').difference).toBeNull();
  });

  it('reads rows without runs from another arm’s first evaluation, and gives them no curve', () => {
    const algorithms = plan({ experiment: 'algorithms', seeds: 1, arms: ['base', 'naive-rag'] });
    const grpo = plannedRuns(algorithms).map((run) => finished(run, 'eval/success', 0.125, 0.875));
    const [base, rag, trained] = resultTable(algorithms, grpo).rows;
    expect(base?.cells[0]).toEqual({ n: 1, mean: 0.125, sd: NaN });
    expect(base?.curves).toEqual([]);
    expect(base?.cells.at(-1)).toBeNull();
    expect(rag?.cells[0]?.n).toBe(0);
    expect(trained?.cells[0]?.mean).toBe(0.875);
    expect(trained?.curves).toEqual([[0.5, 0.75]]);
  });

  it('takes a shipped run of any backend where there is none of its own, and says so', () => {
    const asked = plan({ backend: 'auto' });
    const [first] = plannedRuns(asked);
    if (!first) throw new Error('want a run');
    const elsewhere = { ...first, config: { ...first.config, backend: 'cpu' as const } };
    const shipped = [finished(elsewhere, 'eval/success', 0.2, 0.4)];
    const read = resultTable(asked, [], shipped);
    expect([read.done, read.shipped, read.rows[0]?.cells[1]?.mean]).toEqual([1, 1, 0.4]);
    expect(tableNotes(read)[0]).toMatch(/^All of these runs come with the page/);
    const own = resultTable(asked, [finished(first, 'eval/success', 0.2, 0.9)], shipped);
    expect([own.done, own.shipped, own.rows[0]?.cells[1]?.mean]).toEqual([1, 0, 0.9]);
    const other = { ...elsewhere, config: { ...elsewhere.config, learningRate: 1 } };
    expect(resultTable(asked, [], [finished({ ...other }, 'eval/success', 0, 1)]).done).toBe(0);
  });

  it('says in how many runs the monitor spoke', () => {
    const trap = plan({ experiment: 'echo-trap', arms: ['break-it'] });
    const trapped = plannedRuns(trap).map((run, i) => ({
      ...finished(run, 'eval/success', 0.2, 0.1),
      health: i === 0 ? [] : ([[30 + i, 'trap']] as const),
    }));
    const { rows, experiment } = resultTable(trap, trapped);
    const index = experiment.columns.findIndex(({ measure }) => measure === 'trap');
    const found = experiment.columns[index];
    if (!found) throw new Error('want a column');
    expect(cellText(rows[0]?.cells[index] ?? null, found, 3)).toBe('32 ± 1 (2 of 3)');
    expect(cellText(summaryOf([]), found, 3)).toBe('never');
  });

  it('becomes Markdown with the published figures apart and named', () => {
    const lines = tableMarkdown(table).split('\n');
    const cells = (line = '') => line.split('|').map((cell) => cell.trim());
    const head = cells(lines[2]);
    const row = cells(lines.find((line) => line.startsWith('| PPO | PPO, both masks off |')));
    expect(row).toHaveLength(head.length);
    expect(head.slice(1, 4)).toEqual(['Group', 'Variant', 'n']);
    expect(row[head.indexOf('All tasks after')]).toBe('0.433 ± 0.321');
    expect(row[head.indexOf('All tasks after: difference to the reference with the same seed')]).toBe(
      '−0.167 (95 %: −0.792 to +0.458), better in 1 of 3 seeds, p = 1: cannot tell (about 37 seeds like these would be enough); compared with PPO, both masks',
    );
    expect(row[head.indexOf('Published, Qwen2.5-3B-Instruct: Mean exact match')]).toBe('0.3022');
    expect(tableMarkdown(table)).toContain('HotpotQA, 2WikiMultihopQA and MuSiQue');
    expect(tableMarkdown(table)).toContain('Settings: distractors 6,');
    expect(tableMarkdown(table)).toContain('backend cpu.');
  });

  it('becomes CSV that a spreadsheet reads: quoted commas, numbers as they are', () => {
    const lines = tableCsv(table).split('\r\n');
    expect(lines).toHaveLength(8);
    expect(lines.at(-1)).toBe('');
    expect(lines[0]).toMatch(/^group,arm,runs,All tasks before: mean,All tasks before: sd,All tasks before: n,/);
    expect(lines[1]).toMatch(/^PPO,"PPO, both masks",3,0\.2[0-9]*,/);
    expect(lines[0]).toContain('"published, Qwen2.5-3B-Instruct, HotpotQA, 2WikiMultihopQA and MuSiQue');
    const many = (line = '') => line.replace(/"[^"]*"/g, '').split(',').length;
    expect(new Set(lines.slice(0, -1).map(many)).size).toBe(1);
    expect(tableCsv(table)).not.toContain('NaN');
  });
});

describe('the results that are shipped', () => {
  it('are all known to the page, which shows no other file', () => {
    const files = readdirSync('public/experiments').filter((file) => file.endsWith('.jsonl'));
    expect(files.toSorted()).toEqual(SHIPPED_EXPERIMENTS.map((name) => `${name}.jsonl`).toSorted());
  });

  it('every line is a result, and every arm has at least five runs under today’s knobs', () => {
    for (const name of SHIPPED_EXPERIMENTS) expect([name, ...lacking(name)]).toEqual([name]);
  });

  function lacking(name: (typeof SHIPPED_EXPERIMENTS)[number]): readonly string[] {
    const { results, badLines } = parseResults(readFileSync(`public/experiments/${name}.jsonl`, 'utf8'));
    expect(badLines).toEqual([]);
    return shippedTable(name, results)
      .rows.filter(({ runs }) => runs < 5)
      .map(({ arm }) => arm.key);
  }
});
