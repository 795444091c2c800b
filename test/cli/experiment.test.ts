import { appendFileSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseExperimentArguments } from '../../src/cli/experimentArguments.ts';
import { experimentFiles } from '../../src/cli/experimentFiles.ts';
import { trainHere, type RunMessage } from '../../src/cli/oneRun.ts';
import { ConfigError } from '../../src/config/configProblem.ts';
import { problemText } from '../../src/base/problem.ts';
import { plannedRuns, planOf, usableResult } from '../../src/experiments/experimentPlan.ts';
import { parseSweep, planText } from '../../src/experiments/sweepFile.ts';
import { resultTable } from '../../src/experiments/resultTable.ts';

const SWEEP = JSON.stringify({ grid: { updates: [1, 2], gamma: [0.5, 1] }, seeds: [3, 5] });
const parse = (args: string) =>
  parseExperimentArguments(args.split(' '), (file) => Promise.resolve(file.includes('plan') ? SWEEP : null));
const problemsOf = async (args: string) => {
  try {
    await parse(args);
  } catch (error) {
    if (error instanceof ConfigError) return error.problems.map(problemText);
    throw error;
  }
  throw new Error('want a ConfigError');
};

describe('the arguments of experiment', () => {
  it('name an experiment; the rest has defaults', async () => {
    expect(await parse('ablation')).toEqual({
      plan: planOf({ experiment: 'ablation', seeds: 8, arms: [], updates: null, backend: 'cpu' }),
      ...{ out: 'experiments', jobs: 1, shard: { i: 1, n: 1 }, merge: [], only: 'runs', json: false },
    });
    const args = 'algorithms --seeds 2 --out here --updates 7 --backend gpu --arms base,ppo --jobs 2 --shard 2/3 --table --json --merge x'; // prettier-ignore
    expect(await parse(args)).toEqual({
      plan: planOf({ experiment: 'algorithms', seeds: 2, arms: ['base', 'ppo'], updates: 7, backend: 'gpu' }),
      ...{ out: 'here', jobs: 2, shard: { i: 2, n: 3 }, merge: ['x'], only: 'table', json: true },
    });
  });

  it('or the file of a sweep, whose runs take the same flags', async () => {
    const plan = parseSweep(SWEEP);
    expect(await parse('a/plan.json --jobs 3')).toEqual({
      ...{ plan, out: 'a/plan', jobs: 3, shard: { i: 1, n: 1 }, merge: [], only: 'runs', json: false },
    });
    expect(await parse('plan --out o --shard 2/8 --merge x --merge y --table --json --jobs 1')).toEqual({
      ...{ plan, out: 'o', jobs: 1, shard: { i: 2, n: 8 }, merge: ['x', 'y'], only: 'table', json: true },
    });
    expect((await parse('plan')).out).toBe('plan-results'); // not the file itself
    const { arms } = plan.experiment;
    const changed = await parseExperimentArguments(
      ['plan', '--seeds', '2', '--updates', '9', '--arms', arms[0]?.key ?? ''],
      () => Promise.resolve(SWEEP),
    );
    expect(
      plannedRuns(changed.plan).map(({ arm, seed, config }) => [arm, seed, config.updates, config.backend]),
    ).toEqual([
      ['updates=1 gamma=0.5', 1, 9, 'cpu'],
      ['updates=1 gamma=0.5', 2, 9, 'cpu'],
    ]);
  });

  it('or the file of an experiment with its arms, whose results lie in a folder of the file’s name', async () => {
    const text = planText(planOf({ experiment: 'preferences', seeds: 2, arms: [], updates: 1, backend: 'cpu' }));
    const { plan, out } = await parseExperimentArguments(['mine/own.json', '--arms', 'rlhf'], () =>
      Promise.resolve(text),
    );
    expect(out).toBe('mine/own');
    const runs = plannedRuns(plan);
    expect(runs.map(({ arm, seed, config }) => [arm, seed, config.updates])).toEqual([['rlhf', 1, 1], ['rlhf', 2, 1]]); // prettier-ignore
    const folder = mkdtempSync(path.join(tmpdir(), 'own-'));
    const { experiment: _, ...run } = runs[0]!;
    // as the page downloads it
    const result = { version: 1, experiment: 'own-3', ...run, backend: 'cpu', metrics: {}, curve: [1], heldOut: [], health: [], skipped: 0, seconds: 1 } as const; // prettier-ignore
    appendFileSync(path.join(folder, 'table.jsonl'), JSON.stringify(result));
    const files = await experimentFiles(folder, plan, () => undefined);
    const read = [...(await files.read()).values()];
    const table = resultTable(plan, read);
    expect([table.done, table.planned]).toEqual([1, 2]);
    await files.write(table, read);
    expect(readdirSync(folder).sort()).toEqual(['runs', 'table.csv', 'table.json', 'table.jsonl', 'table.md']);
    rmSync(folder, { recursive: true });
  });

  it('say what was got and what exists', async () => {
    const first = async (args: string) => (await problemsOf(args))[0];
    await expect(parseExperimentArguments([], () => Promise.resolve(null))).rejects.toThrow(
      /can’t run nothing\. Use one of learning, ablation, algorithms, echo-trap, preferences, rollout-shaping, .*or the file/,
    );
    expect(await first('chess')).toMatch(/can’t run chess/);
    expect(await first('none.json')).toMatch(/can’t run none\.json/);
    expect(await first('ablation algorithms')).toMatch(/can’t run ablation algorithms/);
    expect(await first('ablation --fast')).toMatch(/--fast: no such flag\. Have --seeds/);
    expect(await first('ablation --seeds 0')).toMatch(/--seeds can’t be 0\. Use a whole number from 1/);
    expect(await first('ablation --arms ppo')).toMatch(/can’t be ppo\. Use some of ppo-both/);
    expect(await first('ablation --backend quantum')).toMatch(/--backend: quantum isn’t one of auto/);
    expect(await first('ablation --out')).toMatch(/--out needs a value/);
    expect(await problemsOf('ablation --seeds x --jobs 0.5 --updates -1')).toHaveLength(3);
    expect(await first('plan --arms gamma=1')).toMatch(/can’t be gamma=1\. Use some of updates=1 gamma=0\.5/);
    for (const shard of ['0/2', '3/2', '1', '1/2/3', 'x/y', '1/0', '1.5/2'])
      expect(await first(`plan --shard ${shard}`)).toMatch(/^--shard can’t be .+\. Use i\/n with i from 1 to n/);
  });
});

describe('a run and its files', () => {
  const plan = planOf({ experiment: 'rollout-shaping', seeds: 1, arms: ['turns-2'], updates: 1, backend: 'cpu' });
  const planned = plannedRuns(plan).filter(({ arm }) => arm === 'turns-2');
  let folder = '';
  beforeAll(() => (folder = mkdtempSync(path.join(tmpdir(), 'experiment-'))));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it('are written at once, found again, and not reused with other settings', async () => {
    const [run] = planned;
    if (!run) throw new Error('want a run');
    const trained = { ...run, config: { ...run.config, evalTasks: 16 } };
    const told: RunMessage[] = [];
    await trainHere(trained, (message) => told.push(message));
    const done = told.find((message) => message.type === 'done');
    if (!done) throw new Error(`want a log, got ${JSON.stringify(told)}`);

    const said: string[] = [];
    const open = () => experimentFiles(folder, plan, (line) => said.push(line));
    const files = await open();
    expect((await files.read()).size).toBe(0);
    const result = await files.add(trained, done.log);
    expect(result).toMatchObject({ arm: 'turns-2', seed: 1, heldOut: [[0, expect.any(Number)], [1, expect.any(Number)]] }); // prettier-ignore
    expect(result.curve).toHaveLength(1);
    const read = [...(await files.read()).values()];
    expect(read).toEqual([result]);
    expect(usableResult(run, read)).toBeUndefined(); // it was run with fewer tasks to evaluate
    expect(usableResult(trained, read)).toEqual(result);

    const markdown = await files.write(resultTable(plan, read), read);
    expect(readFileSync(path.join(folder, 'rollout-shaping.md'), 'utf8')).toBe(markdown);
    expect(readFileSync(path.join(folder, 'rollout-shaping.csv'), 'utf8')).toMatch(/^group,arm,runs/);

    // results of the page, or of an older version of the command, have no log
    const lines = path.join(folder, 'rollout-shaping.jsonl');
    appendFileSync(lines, `${JSON.stringify({ ...result, seed: 2 })}\n{"version":1,"arm":"tur`);
    expect([...(await (await open()).read()).values()].map(({ seed }) => seed)).toEqual([1, 2]);
    expect(said.join()).toMatch(/rollout-shaping\.jsonl:3: not a result/);
    const other = await experimentFiles(path.join(folder, 'other'), plan, () => undefined);
    await other.merge(folder); // both kinds of results
    expect([...(await other.read()).values()].map(({ seed }) => seed)).toEqual([1, 2]);
    rmSync(lines);
    expect([...(await files.read()).values()]).toEqual([result]);
  });
});
