import { describe, expect, it, test } from 'vitest';
import Papa from 'papaparse';
import type { Arm, Experiment } from '../src/experiments/experimentDefinition.ts';
import { tableCsv, tableMarkdown, sharedKnobsText } from '../src/experiments/experimentExports.ts';
import {
  plannedRuns,
  usableResult,
  usableShippedResult,
  planOf,
  type PlanChoice,
} from '../src/experiments/experimentPlan.ts';
import {
  parseResult,
  parseResults,
  RESULT_VERSION,
  runFromResult,
  type RunResult,
  type RunIdentity,
} from '../src/experiments/runResult.ts';
import { correctedComparisons, pairedSummary, summaryOf } from '../src/base/statistics.ts';
import { type Row, type Table, resultTable } from '../src/experiments/resultTable.ts';
import { cellText, differenceCellText, tableNotes, publishedNote } from '../src/experiments/wording.ts';
import { parseConfig } from '../src/config/config.ts';

const plan = (changes: Partial<PlanChoice> = {}) =>
  planOf({ experiment: 'ablation', seeds: 2, arms: [], updates: null, backend: 'cpu', ...changes });
const result = (changes: Partial<RunResult> = {}): RunResult => ({
  ...{ version: RESULT_VERSION, experiment: 'ablation', arm: 'ppo-both', seed: 1, config: {}, backend: 'cpu: x' },
  ...{ metrics: {}, curve: [0.25, 0.5, 0.75], heldOut: [[0, 0.125], [2, 0.5]], health: [[1, 'ok']] }, // prettier-ignore
  ...{ skipped: 0, seconds: 1 },
  ...changes,
});
const played = (run: RunIdentity, changes: Partial<RunResult> = {}) =>
  result({ experiment: run.experiment, arm: run.arm, seed: run.seed, config: run.config, ...changes });

describe('a result', () => {
  const bad: Readonly<Partial<Record<keyof RunResult, readonly unknown[]>>> = {
    version: [0, '1', null],
    ...{ experiment: [3, null], arm: [3, null, undefined], backend: [3, {}] },
    ...{ seed: ['1', null, NaN], skipped: ['0', null], seconds: [Infinity, null] },
    ...{ config: [null, [], 'x'], metrics: [null, [], 3] },
    curve: [null, {}, 'x', [1, 'a'], ['a', 1], { every: true }],
    ...{ heldOut: [null, 'x', [3], [[1]], [[0, 1], [1]], [[1, 2, 3]]], health: [null, {}, [[1, 'ok'], 3]] }, // prettier-ignore
  };
  test.each(Object.entries(bad))('whose %s is of another kind is refused', (field, values) => {
    for (const value of values) expect([value, parseResult({ ...result(), [field]: value })]).toEqual([value, null]);
  });

  it('is read where every field is right, and nothing else is', () => {
    expect(parseResult(result())).toEqual(result());
    for (const value of [undefined, null, 3, 'x', []]) expect(parseResult(value)).toBeNull();
  });

  it('of a file is counted by its line: empty ones are passed over, others that are none are named', () => {
    const line = JSON.stringify(result());
    expect(parseResults(`\n${line}\n \n{}\n${line}\n{"version":`)).toEqual({
      results: [result(), result()],
      badLines: [4, 6],
    });
  });

  it('shown as a run has the success of every update, held-out tasks at theirs, and its backend', () => {
    const run = runFromResult(result({ backend: 'gpu: Some GPU: 8 GB, fast' }), '2026-11-25');
    const points = (name: 'rollout/success' | 'eval/success') => {
      const { x, y } = run.series.get(name)?.points ?? { x: [], y: [] };
      return Array.from(x, (update, i) => [update, y[i]]);
    };
    expect(points('rollout/success')).toEqual([[1, 0.25], [2, 0.5], [3, 0.75]]); // prettier-ignore
    expect(points('eval/success')).toEqual([[0, 0.125], [2, 0.5]]); // prettier-ignore
    expect(run).toMatchObject({ name: 'ppo-both, seed 1', update: 3, started: '2026-11-25', begun: parseConfig() });
    expect(run.backend).toEqual({ kind: 'gpu', adapter: 'Some GPU: 8 GB, fast' });
    expect(runFromResult(result(), '').backend).toEqual({ kind: 'cpu', adapter: 'x' });
  });
});

describe('a planned run', () => {
  const [run, other] = plannedRuns(plan());
  if (!run || !other) throw new Error('want two runs');

  it('takes the newest result of its arm, seed and knobs, and of no other', () => {
    const [own, newer] = [played(run), played(run, { seconds: 2 })];
    expect(usableResult(run, [own, newer])).toBe(newer);
    expect(usableShippedResult(run, [own, newer])).toBe(newer);
    for (const wrong of [{ arm: other.arm }, { seed: 2 }]) {
      expect(usableResult(run, [own, played(run, wrong)])).toBe(own);
      expect(usableShippedResult(run, [own, played(run, wrong)])).toBe(own);
    }
    const shorter = played(run, { config: { ...run.config, updates: 7, backend: 'gpu' } });
    expect(usableShippedResult(run, [shorter])).toBeUndefined();
  });

  it('is of a chosen arm alone where that has runs of its own', () => {
    const arms = (chosen: readonly string[]) =>
      plannedRuns(plan({ experiment: 'algorithms', arms: chosen, seeds: 1 })).map(({ arm }) => arm);
    expect(arms(['ppo'])).toEqual(['ppo']);
    expect(arms(['base'])).toEqual(['grpo']);
  });

  it('has the plan’s updates where it names them, and the settings say so', () => {
    expect(sharedKnobsText(plan({ updates: 7 })).split(', ')).toContain('updates 7');
    expect(sharedKnobsText(plan())).not.toContain('updates 7');
    expect(plannedRuns(plan({ updates: 7 }))[0]?.config.updates).toBe(7);
  });
});

describe('a table', () => {
  it('counts rollouts as updates × prompts × group, and shares of the plan that are done, shipped or neither', () => {
    const trap = plan({ experiment: 'echo-trap', arms: ['break-it'] });
    const [one, two] = plannedRuns(trap);
    if (!one || !two) throw new Error('want two runs');
    const sized = { prompts: 4, groupSize: 8 };
    const shipped = [played(one, { config: { ...one.config, backend: 'auto' }, backend: 'gpu: y' })];
    const { rows, experiment, ...counts } = resultTable(trap, [played(two, { curve: [1, 1] })], shipped);
    expect(counts).toMatchObject({ done: 2, shipped: 1, planned: 2, backends: ['gpu: y', 'cpu: x'] });
    const at = experiment.columns.findIndex(({ measure }) => measure === 'rollouts');
    const perUpdate = one.config.prompts * one.config.groupSize;
    expect(perUpdate).toBeGreaterThan(sized.groupSize);
    expect(rows[0]?.cells[at]).toMatchObject({ n: 2, mean: 2.5 * perUpdate });
  });

  it('holds an arm against the one it names, and gives curves to every arm that ran', () => {
    const held = (run: RunIdentity) => {
      const last = run.arm === 'ppo-both' ? 0.25 * run.seed : 0.75;
      return played(run, { metrics: { 'eval/success': { first: 0, last, best: 1, mean: 1 } } });
    };
    const { rows } = resultTable(plan({ arms: ['ppo-both', 'ppo-no-masks'] }), plannedRuns(plan()).map(held));
    expect(rows.map(({ runs, curves, difference }) => [runs, curves.length, difference?.mean])).toEqual([
      [2, 2, undefined],
      [2, 2, 0.375],
    ]);
    expect(rows[1]?.difference).toMatchObject({ n: 2, low: 0.25, high: 0.5, better: 2, worse: 0 });
  });
});

describe('paired differences', () => {
  it('say how many seeds would do from two on, and the smallest and largest of them', () => {
    expect(pairedSummary([-0.5, 0.25, 0.5])).toMatchObject({ low: -0.5, high: 0.5, n: 3 });
    expect(pairedSummary([0.5]).needed).toBeNull();
    expect(pairedSummary([0.5, 0.25]).needed).toBe(6); // 6 of 6 is the first split with p < .05: 2/64
    expect(pairedSummary([])).toMatchObject({ n: 0, low: NaN, high: NaN, interval: null, needed: null });
  });

  it('corrected together leave places without a comparison as they are, and count none without seeds', () => {
    const one = pairedSummary([1, 1, 1, 1, 1, 1]); // p 2/64
    const even = pairedSummary([1, -1]); // p 1
    const [first, gap, none, last] = correctedComparisons([one, null, pairedSummary([]), even]);
    expect(first?.corrected).toBeCloseTo(4 / 64, 12);
    expect([gap, none?.n, last?.corrected]).toEqual([null, 0, 1]);
    expect([first?.claim, correctedComparisons([one])[0]?.claim]).toEqual(['unclear', 'more']);
  });
});

/** Three arms worked by hand: a reference, one that is held against it, and one that has not run. */
function byHand(changes: Partial<Table> = {}): Table {
  const arms: readonly Arm[] = [
    { key: 'a', label: 'A | a', set: { updates: 5 }, published: [0.5, null] },
    { key: 'b', label: 'B', group: 'Late', set: { updates: 5 }, comparedWith: 'a' },
    { key: 'c', label: 'C', set: {} },
  ];
  const experiment: Experiment = {
    ...{ label: 'L', question: 'Q?', doc: 'D.', shared: { updates: 5 }, arms, headline: 'y' },
    columns: [{ key: 'x', label: 'X', measure: 'rollouts', digits: 0 }, { key: 'y', label: 'Y', measure: 'rollouts' }], // prettier-ignore
    published: { source: 'S', model: 'M', task: 'T', columns: ['P', 'R'] },
    ...{ defaultSeeds: 2, secondsPerUpdate: 1 },
  };
  const [difference] = correctedComparisons([pairedSummary([0.25, 0.5]), pairedSummary([0.5, -0.5])]);
  const row = (i: number, more: Partial<Row>): Row => ({
    ...{
      arm: arms[i] ?? { key: '', label: '', set: {} },
      runs: 2,
      difference: null,
      curves: [],
      values: [],
      interval: null,
    },
    cells: [summaryOf([-3, -5]), summaryOf([0.5])],
    ...more,
  });
  return {
    ...{ plan: plan(), experiment, done: 4, shipped: 0, planned: 6, backends: ['cpu: x'] },
    rows: [row(0, {}), row(1, { difference: difference ?? null }), row(2, { runs: 0, cells: [null, summaryOf([])] })],
    ...changes,
  };
}

describe('a table that leaves the page', () => {
  it('is CSV with each number under its name, and empty cells where there is none', () => {
    const { data } = Papa.parse<Record<string, string>>(tableCsv(byHand()).trim(), { header: true });
    const [a, b, c] = data;
    const claimed = { 'difference: sign test p': '0.5', 'difference: p corrected': '1' };
    expect(a).toEqual({
      ...{ group: '', arm: 'A | a', runs: '2', against: '' },
      ...{ 'X: mean': '-4', 'X: sd': String(Math.SQRT2), 'X: n': '2', 'Y: mean': '0.5', 'Y: sd': '', 'Y: n': '1' },
      ...{ 'difference: mean': '', 'difference: sd': '', 'difference: n': '', 'difference: t 95 % low': '' },
      ...{ 'difference: t 95 % high': '', 'difference: better': '', 'difference: tied': '' },
      ...{ 'difference: sign test p': '', 'difference: p corrected': '' },
      ...{ 'published, M, T: P': '0.5', 'published, M, T: R': '' },
    });
    expect(b).toMatchObject({
      group: 'Late',
      against: 'a',
      'difference: mean': '0.375',
      'difference: n': '2',
      ...claimed,
    });
    expect(b).toMatchObject({ 'difference: better': '2', 'difference: tied': '0', 'published, M, T: P': '' });
    expect(Number(b?.['difference: sd'])).toBeCloseTo(Math.SQRT1_2 / 4, 12);
    // t of one degree of freedom at .975 is 12.7062, times the deviation over √2, which is .125
    expect(Number(b?.['difference: t 95 % low'])).toBeCloseTo(0.375 - 12.7062 / 8, 4);
    expect(Number(b?.['difference: t 95 % high'])).toBeCloseTo(0.375 + 12.7062 / 8, 4);
    expect(c).toMatchObject({ runs: '0', 'X: mean': '', 'X: sd': '', 'X: n': '', 'Y: mean': '', 'Y: n': '0' });
  });

  it('is Markdown with a column for each number, numbers to the right', () => {
    const [title, gap, head, rule, a, b, c, after] = tableMarkdown(byHand()).split('\n');
    const cells = (line = '') => line.split(/ ?(?<!\\)\| ?/).slice(1, -1);
    expect([title, gap, after]).toEqual(['### L: Q?', '', '']);
    expect(cells(head)).toEqual([
      ...[
        'Group',
        'Variant',
        'n',
        'X',
        'Y',
        'Y: difference to the reference with the same seed',
        'Published, M: P',
        'Published, M: R',
      ],
    ]);
    expect(cells(rule)).toEqual(['---', '---', ...Array<string>(6).fill('---:')]);
    expect(cells(a)).toEqual(['', 'A \\| a', '2', '−4 ± 1', '0.500 (1 of 2)', 'reference', '0.5', '–']);
    expect(cells(b)[5]).toMatch(/^\+0\.375 .*; compared with A \\\| a$/);
    expect(cells(c)).toEqual(['', 'C', '0', '–', '–', '–', '–', '–']);
    const bare = byHand({ rows: byHand().rows.map((row) => ({ ...row, arm: { key: 'c', label: 'C', set: {} }, difference: null })) }); // prettier-ignore
    const plain = tableMarkdown({ ...bare, experiment: without(bare.experiment, 'published') }).split('\n');
    expect(cells(plain[2])).toEqual(['Variant', 'n', 'X', 'Y']);
    expect(cells(plain[3])).toEqual(['---', '---:', '---:', '---:']);
    expect(plain.some((line) => line.startsWith('Published'))).toBe(false);
  });

  it('says how many runs there are, how long they are, on what, and whose', () => {
    const said = (changes: Partial<Table>) => tableNotes(byHand(changes)).join(' ');
    expect(said({})).toMatch(/4 of 6 runs, seeds 1 … 2, 5 updates each, cpu: x\./);
    expect(said({ backends: [] })).toMatch(/5 updates each\./);
    expect(said({ plan: plan({ updates: 9 }) })).toMatch(/9 updates each/);
    const uneven = byHand().rows.map((row, i) => (i > 0 ? row : { ...row, arm: { ...row.arm, set: { updates: 6 } } }));
    expect(said({ rows: uneven })).toMatch(/seeds 1 … 2, with 5 to 6 updates, cpu/);
    expect(said({ plan: { ...plan(), seeds: [3, 7] } })).toMatch(/seeds 3, 7, /);
    expect(said({})).not.toMatch(/come with the page/);
    expect(said({ shipped: 1 })).toMatch(/^1 of these runs come with the page/);
    expect(said({ shipped: 4 })).toMatch(/^All of these runs/);
    expect(said({})).toMatch(/interval and the test can disagree\. The table goes by the test/);
  });

  it('says that p is corrected where more than one comparison is made, and only there', () => {
    const [a, b] = byHand().rows;
    if (!a || !b) throw new Error('want two rows');
    expect(tableNotes(byHand()).join(' ')).not.toMatch(/corrected/);
    expect(tableNotes(byHand()).join(' ')).toMatch(/\.05/);
    const none = { ...b, difference: pairedSummary([]) };
    expect(tableNotes(byHand({ rows: [a, b, none] })).join(' ')).not.toMatch(/corrected/);
    expect(tableNotes(byHand({ rows: [a, b, b] })).join(' ')).toMatch(/ 2 comparisons .* corrected/);
  });

  it('names model and task of published numbers, and is silent without any', () => {
    const { experiment } = byHand();
    expect(publishedNote(byHand())).toMatch(/^S: M, T\./);
    expect(publishedNote(byHand({ experiment: without(experiment, 'published') }))).toBe('');
  });
});

/** A copy that lacks a field. */
function without<T extends object>(from: T, field: keyof T): T {
  return Object.fromEntries(Object.entries(from).filter(([name]) => name !== field)) as T;
}

describe('a cell', () => {
  const column = { key: 'x', label: 'X', measure: 'rollouts', digits: 1, emptyText: 'never' } as const;

  it('has a dash where nothing ran, its own word where no run has the number, and the share that has it', () => {
    const cells = [null, summaryOf([1]), summaryOf([]), summaryOf([1, 2]), summaryOf([-1])] as const;
    expect(cells.map((cell) => cellText(cell, column, 2))).toEqual(['–', '1.0 (1 of 2)', 'never', '1.5 ± 0.7', '−1.0 (1 of 2)']); // prettier-ignore
    expect([cellText(summaryOf([1]), column, 0), cellText(null, column, 0)]).toEqual(['–', '–']);
    expect(cellText(summaryOf([]), { key: 'x', label: 'X', measure: 'trap' }, 1)).toBe('–');
  });

  it('of differences has sign, ties, p, corrected p, and what it may claim', () => {
    expect([differenceCellText(null), differenceCellText(pairedSummary([]))]).toEqual(['–', '–']);
    expect(differenceCellText(pairedSummary([0.5]))).toMatch(/^\+0\.500, better in 1 of 1 seeds: cannot tell/);
    expect(differenceCellText(pairedSummary([0, -0.5]))).toMatch(
      /^−0\.250 .*, better in 0 of 2 seeds, equal in 1, p = 1/,
    );
    expect(differenceCellText(pairedSummary([1, 1, 1, 1, 1, 1]))).toMatch(/6 of 6 seeds, p = \.031$/);
    const [both] = correctedComparisons([pairedSummary([1, 1, 1, 1, 1, 1]), pairedSummary([1, -1])]);
    expect(differenceCellText(both ?? null)).toMatch(/p = \.031, corrected \.06[23]: cannot tell$/);
    expect(differenceCellText(pairedSummary([0, 0]))).toMatch(/^0\.000, better in 0 of 2 seeds, equal in 2/);
  });
});
