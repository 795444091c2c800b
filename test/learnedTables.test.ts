import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { signTest } from '../src/base/inference.ts';
import { shippedRecording } from './shippedRecording.ts';

type Row = Readonly<Record<string, unknown>>;
const RAW = 'docs/journal/raw';
const rowsOf = (part: string): readonly Row[] =>
  readdirSync(RAW)
    .filter((name) => name.includes(part) && name.endsWith('.jsonl'))
    .flatMap((name) => readFileSync(`${RAW}/${name}`, 'utf8').trim().split('\n'))
    .map((line) => JSON.parse(line) as Row);
const numberIn = (row: Row | undefined, key: string) => (row?.[key] === undefined ? NaN : Number(row[key]));

/** What the records say of a run: success at the evaluations, by seed. */
interface Told {
  readonly tasks: number;
  readonly imitated: number;
  readonly retrieved: number; // one fact, no call; NaN where it was not asked
  readonly after: number;
}

/** Every seed of the search that was trained to its end. */
const search = new Map<number, Told>(
  rowsOf('smollm2-search').flatMap((row, _, all) => {
    const [, seed] = /^search-(\d+)$/.exec(String(row['run'])) ?? [];
    if (seed === undefined || row['finished'] !== 14) return [];
    const at = (update: number) => all.find((other) => other['run'] === row['run'] && other['update'] === update && other['eval/success'] !== undefined); // prettier-ignore
    const [before, end] = [at(0), at(14)];
    return [
      [
        Number(seed),
        {
          tasks: numberIn(end, 'eval/tasks'),
          imitated: numberIn(before, 'eval/success'),
          retrieved: numberIn(before, 'eval/naive_rag'),
          after: numberIn(end, 'eval/success'),
        },
      ] as const,
    ];
  }),
);

/** Every seed of the calculator that was trained to its end, controls apart. */
const calculator = new Map<number, Told>(
  rowsOf('smollm2-calculator').flatMap((row, _, all) => {
    const [, seed] = /^seed (\d+)(?!.*nonsense)/.exec(String(row['run'])) ?? [];
    if (seed === undefined || row['eval'] !== 'end') return [];
    const imitated = all.find((other) => String(other['run']).startsWith(`seed ${seed}`) && other['eval'] === 'imitated'); // prettier-ignore
    const told = { tasks: numberIn(row, 'tasks'), imitated: numberIn(imitated, 'success'), retrieved: NaN };
    return [[Number(seed), { ...told, after: numberIn(row, 'success') }] as const];
  }),
);

const page = readFileSync('docs/text-models.md', 'utf8');
const results = readFileSync('docs/results.md', 'utf8');
/** Cells of the rows of a page that begin with a text. */
const cellsOf = (text: string, beginning: string) =>
  text
    .split('\n')
    .filter((line) => line.startsWith(`| ${beginning}`))
    .map((line) => line.split('|').slice(1, -1).map((cell) => cell.trim())); // prettier-ignore
/** A share as a table has it: two digits, three where it has three. */
const shown = (cell: string | undefined) => (cell === '–' || cell === undefined ? NaN : Number(/^[.\d]+/.exec(cell)?.[0])); // prettier-ignore
/** Wilson's interval (1927). */
function wilson(hits: number, n: number): readonly [number, number] {
  const [z, p] = [1.959964, hits / n];
  const middle = (p + z ** 2 / (2 * n)) / (1 + z ** 2 / n);
  const reach = (z * Math.sqrt((p * (1 - p)) / n + z ** 2 / (4 * n * n))) / (1 + z ** 2 / n);
  return [middle - reach, middle + reach];
}
function expectShare(cell: string | undefined, value: number, tasks: number, what: string): void {
  if (Number.isNaN(value)) {
    expect(cell, what).toBe('–');
    return;
  }
  expect(Math.abs(shown(cell) - value), `${what}: ${cell} for ${value}`).toBeLessThan(0.0051); // half of the last digit
  const [, low, high] = /\[([.\d]+), ([.\d]+)\]/.exec(cell ?? '') ?? [];
  const [from, to] = wilson(Math.round(value * tasks), tasks);
  expect(Math.abs(Number(low) - from), `${what}: ${cell}`).toBeLessThan(0.0051);
  expect(Math.abs(Number(high) - to), `${what}: ${cell}`).toBeLessThan(0.0051);
}

test('the records hold four seeds of the search and three of the calculator; seed 7’s are the recording’s', () => {
  expect([...search.keys()].sort((a, b) => a - b)).toEqual([1, 2, 3, 7]);
  expect([...calculator.keys()].sort((a, b) => a - b)).toEqual([1, 2, 3]);
  const { series, config } = shippedRecording('smollm2-search');
  expect(config.seed).toBe(7);
  const of = (name: 'eval/success' | 'eval/naive_rag') => series.get(name);
  expect(search.get(7)).toEqual({ tasks: 32, imitated: of('eval/success')?.firstValue, retrieved: of('eval/naive_rag')?.firstValue, after: of('eval/success')?.lastValue }); // prettier-ignore
});

test.each([
  ['smollm2-search', search],
  ['smollm2-calculator', calculator],
] as const)(
  'docs/text-models.md has every seed of %s as the records have it, with Wilson’s intervals',
  (preset, told) => {
    const rows = new Map(
      cellsOf(page, `\`${preset}\``).map((cells) => [Number.parseInt(cells[1] ?? ''), cells] as const),
    );
    expect([...rows.keys()].sort()).toEqual([...told.keys()].sort());
    for (const [seed, { tasks, imitated, retrieved, after }] of told) {
      const [, , of, before, naive, end] = rows.get(seed) ?? [];
      const what = `${preset}, seed ${seed}`;
      expect(Number(of), what).toBe(tasks);
      expectShare(before, imitated, tasks, `${what}, imitated`);
      expectShare(naive, retrieved, tasks, `${what}, one fact retrieved`);
      expectShare(end, after, tasks, `${what}, after its updates`);
    }
  },
);

/** Runs whose episodes could play all their turns, by seed: seed 7 on a CPU, the others on a GPU. */
const wholeRows = [...rowsOf('smollm2-search-whole-episodes'), ...rowsOf('smollm2-whole-episodes-gpu')];
const whole = new Map(
  [1, 2, 3, 7].map((seed) => {
    const own = wholeRows.filter((row) => row['run'] === (seed === 7 ? 'whole-7' : `search-${seed}`));
    const [before, end] = [0, 14].map((update) => own.find((row) => row['update'] === update));
    const told: Told & { readonly sampled: readonly number[] } = {
      tasks: numberIn(end, 'eval/tasks'),
      imitated: numberIn(before, 'eval/success'),
      retrieved: numberIn(before, 'eval/naive_rag'),
      after: numberIn(end, 'eval/success'),
      sampled: [before, end].map((row) => numberIn(row, 'eval/success_sampled')),
    };
    return [seed, told] as const;
  }),
);

test('the search with whole episodes stands in both pages as its records have it, every seed', () => {
  const rows = new Map(cellsOf(page, 'search  ').map((cells) => [Number(cells[1]), cells] as const));
  expect([...rows.keys()].sort()).toEqual([...whole.keys()].sort());
  const inResults = (beginning: string) => (cellsOf(results, beginning)[0] ?? []).slice(1).map(shown);
  for (const [i, [seed, { tasks, imitated, retrieved, after, sampled }]] of [...whole].entries()) {
    const [, , of, ...shares] = rows.get(seed) ?? [];
    const what = `search, seed ${seed}`;
    expect(Number(of), what).toBe(tasks);
    for (const [at, value] of [imitated, retrieved, after].entries()) expectShare(shares[at], value, tasks, what);
    expect(inResults('30 steps of imitation')[i], what).toBeCloseTo(imitated);
    expect(inResults('the same, then 14 RL updates')[i], what).toBeCloseTo(after);
    expect(inResults('30 steps, then one fact in the prompt, no call')[i], what).toBeCloseTo(retrieved);
    const [begin, end] = sampled.map((value) => value.toFixed(2).slice(1));
    expect(page).toMatch(new RegExp(`\\${begin} → \\${end} \\((?:seed )?${seed}\\)`));
  }
  const mean = (at: 0 | 1) => [...whole.values()].reduce((sum, { sampled }) => sum + (sampled[at] ?? NaN), 0) / 4;
  expect([mean(0), mean(1)].map((value) => value.toFixed(3))).toEqual(['0.120', '0.335']);
  expect(page).toContain('from .12 to .34 on average');
});

test('the calculator with whole episodes stands in both pages as its records have it, all three seeds', () => {
  const rows = new Map(cellsOf(page, 'calculator  ').map((cells) => [Number.parseInt(cells[1] ?? ''), cells] as const));
  expect([...rows.keys()].sort()).toEqual([1, 2, 3]);
  const at = (run: string, update: number) => [...rowsOf('smollm2-whole-episodes-cpu'), ...wholeRows].find((row) => row['run'] === run && row['update'] === update && row['eval/success'] !== undefined); // prettier-ignore
  for (const seed of [1, 2, 3]) {
    const [before, end] = [0, 20].map((update) => at(`calculator-cpu-${seed}`, update));
    const [, , of, imitated, after] = rows.get(seed) ?? [];
    expect(Number(of)).toBe(numberIn(before, 'eval/tasks'));
    expectShare(imitated, numberIn(before, 'eval/success'), 50, `calculator, seed ${seed}, imitated`);
    expectShare(after, numberIn(end, 'eval/success'), 50, `calculator, seed ${seed}, after its updates`);
    const both = [before, end].map((row) => numberIn(row, 'eval/success').toFixed(2).slice(1)).join(' → ');
    expect(results).toContain(`${both} (seed ${seed})`);
    expect(page).toMatch(new RegExp([before, end].map((row) => `\\${numberIn(row, 'eval/success_sampled').toFixed(2).slice(1)}`).join(' to '))); // prettier-ignore
  }
  for (const seed of [1, 2, 3]) {
    const own = wholeRows.filter((row) => row['run'] === `calculator-${seed}` && row['kind'] === 'update');
    const success = own.filter((row) => row['update'] !== 0).map((row) => numberIn(row, 'rollout/success'));
    const mean = (some: readonly number[]) => some.reduce((sum, value) => sum + value, 0) / some.length;
    const [begin, end] = [success.slice(0, 5), success.slice(-5)].map((some) => (mean(some) + 1e-9).toFixed(2).slice(1)); // prettier-ignore
    expect(page).toMatch(new RegExp(`from \\${begin} to \\${end} on seed ${seed}`));
  }
});

test('docs/results.md has every seed of SmolLM2, and what one retrieved fact without a call comes to', () => {
  const [head] = cellsOf(results, 'share of held-out tasks solved');
  const seeds = (head ?? []).slice(1).map((cell) => Number(/seed (\d+)/.exec(cell)?.[1]));
  expect(seeds).toEqual([...search.keys()].sort((a, b) => a - b));
  const line = (beginning: string, told: ReadonlyMap<number, Told>, part: keyof Told) => {
    const [cells] = cellsOf(results, beginning);
    for (const [i, seed] of seeds.entries()) {
      const value = told.get(seed)?.[part];
      if (value === undefined) expect(cells?.[i + 1], `${beginning}, seed ${seed}`).toBe('–');
      else expect(Math.abs(shown(cells?.[i + 1]) - value), `${beginning}, seed ${seed}`).toBeLessThan(0.0051);
    }
  };
  line('search of one fact: 30 steps of imitation', search, 'imitated');
  line('search: the same, then 14 RL updates', search, 'after');
  line('search, baseline: 30 steps, then one fact in the prompt, no call', search, 'retrieved');
  line('calculator: 30 steps of imitation', calculator, 'imitated');
  line('calculator: the same, then 20 RL updates', calculator, 'after');
});

test('the README’s sentence on SmolLM2 has the calculator’s three seeds, before and after', () => {
  const readme = readFileSync('README.md', 'utf8');
  const [, told = ''] = /on three seeds: ((?:\.\d+ → \.\d+(?:, )?)+)/.exec(readme) ?? [];
  const pairs = told.split(', ').map((pair) => pair.split(' → ').map(shown));
  const whole = rowsOf('smollm2-whole-episodes-cpu').filter((row) => row['kind'] === 'summary');
  const seeds = whole.map((row) => ['before', 'after'].map((when) => numberIn(row[when] as Readonly<Record<string, unknown>>, 'eval/success'))).sort(([, a = 0], [, b = 0]) => a - b); // prettier-ignore
  expect(pairs).toHaveLength(seeds.length);
  for (const [i, numbers] of seeds.entries()) {
    for (const [j, value] of numbers.entries()) {
      expect(Math.abs((pairs[i]?.[j] ?? NaN) - value)).toBeLessThan(0.0051);
    }
  }
});

test('both pages have the controls as the records have them: imitation for as long, one fact retrieved after it, tools that lie', () => {
  const all = [...rowsOf('smollm2-search-controls'), ...rowsOf('smollm2-calculator')];
  const at = (run: string, update: number, key = 'eval/success') =>
    numberIn(
      all.find((row) => row['run'] === run && row['update'] === update && row[key] !== undefined),
      key,
    );
  const nonsense = all.find((row) => String(row['run']).includes('nonsense') && row['eval'] === 'end');
  const controls = [
    ['search: 120 steps of imitation, no RL', at('imitation-3', 0)],
    ['search: 120 steps, then one fact in the prompt, no call', at('imitation-3', 0, 'eval/naive_rag')],
    ['search: RL with a tool that names a random entity', at('nonsense-3', 14)],
    ['search: the model without any training', at('packaged-3', 0)],
    ['calculator: 150 steps of imitation, no RL', at('imitation-1', 0)],
    ['calculator: RL with a tool that answers nonsense', numberIn(nonsense, 'success')],
    [
      'calculator: the model without any training',
      numberIn(
        all.find((row) => row['eval'] === 'before'),
        'success',
      ),
    ],
  ] as const;
  for (const [name, value] of controls) {
    expect(value, name).not.toBeNaN();
    expectShare(cellsOf(page, name)[0]?.[2], value, 200, name);
  }
  const inResults = (name: string) => (cellsOf(results, name)[0] ?? []).slice(1).filter((cell) => cell !== '–');
  expect(inResults('search, baseline: 120 steps of imitation, no RL')).toEqual(['.32']);
  expect(inResults('search, baseline: 120 steps, then one fact in the prompt, no call')).toEqual(['.445']);
  expect(inResults('calculator, baseline: 150 steps of imitation, no RL')).toEqual(['.04']);
});

test('what is said of the four seeds together is the sign test’s: three of four ahead of the baseline, four of four of imitation', () => {
  const all = [...whole.values()];
  const ahead = (of: (told: Told) => number) => all.filter((told) => told.after > of(told)).length;
  const [retrieved, imitated] = [ahead((told) => told.retrieved), ahead((told) => told.imitated)];
  expect([retrieved, imitated]).toEqual([3, 4]);
  const p = [signTest(retrieved, 4 - retrieved), signTest(imitated, 4 - imitated)].map((value) => value.toFixed(3));
  expect(p).toEqual(['0.625', '0.125']);
  expect(page).toMatch(/ahead on three, exact sign test p = \.63/);
  expect(page).toMatch(/ahead on all four seeds, but four seeds can't give a p below \.13/);
  expect((all.reduce((sum, { after }) => sum + after, 0) / 4).toFixed(2)).toBe('0.50');
  expect(page).toContain('is .50 on average over four seeds (.24 to .78)');
  const older = [...search.values()]; // the same with the older runs
  expect(older.filter(({ after, retrieved: other }) => after > other)).toHaveLength(3);
});

test('the text agent’s rows are those of the records; number hunt, which is evaluated on all of its tasks, has no interval over them', () => {
  const records = [...rowsOf('text-presets-whole-episodes'), ...rowsOf('text-calculator-whole-episodes')];
  for (const [preset, tasks] of [
    ['number-hunt-text', 16],
    ['search-text', 256],
    ['calculator-text', 256],
  ] as const) {
    const rows = cellsOf(page, `\`${preset}\``).filter(([, seed]) => Number(seed) >= 11);
    expect(rows.map(([, seed]) => seed)).toEqual(['11', '12', '13']);
    for (const cells of rows) {
      const of = records.filter((row) => row['run'] === `${preset}-rl-${cells[1]}` && row['eval/tasks'] === tasks);
      const [before, after] = [0, 60].map((update) => of.find((row) => row['update'] === update));
      expect(Math.abs(shown(cells[2]) - numberIn(before, 'eval/success'))).toBeLessThan(0.0051);
      expect(Math.abs(shown(cells[3]) - numberIn(after, 'eval/success'))).toBeLessThan(0.0051);
      expect(cells.join(' ').includes('[')).toBe(preset !== 'number-hunt-text');
    }
  }
});
