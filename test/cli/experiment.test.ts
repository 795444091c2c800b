import { appendFileSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseExperimentArguments } from '../../src/cli/experimentArguments.ts';
import { experimentFiles } from '../../src/cli/experimentFiles.ts';
import { trainHere, type RunMessage } from '../../src/cli/oneRun.ts';
import { ConfigError } from '../../src/config/configProblem.ts';
import { problemText } from '../../src/base/problem.ts';
import { plannedRuns, usableResult } from '../../src/experiments/experimentPlan.ts';
import { resultTable } from '../../src/experiments/resultTable.ts';

const problemsOf = (...args: string[]) => {
  try {
    parseExperimentArguments(args);
  } catch (error) {
    if (error instanceof ConfigError) return error.problems.map(problemText);
    throw error;
  }
  throw new Error('want a ConfigError');
};

describe('the arguments of experiment', () => {
  it('name an experiment; the rest has defaults', () => {
    expect(parseExperimentArguments(['ablation'])).toEqual({
      plan: { experiment: 'ablation', seeds: 8, arms: [], updates: null, backend: 'cpu' },
      out: 'experiments',
      jobs: 1,
    });
    const args = 'algorithms --seeds 2 --out here --updates 7 --backend gpu --arms base,ppo --jobs 2'.split(' ');
    expect(parseExperimentArguments(args)).toEqual({
      plan: { experiment: 'algorithms', seeds: 2, arms: ['base', 'ppo'], updates: 7, backend: 'gpu' },
      out: 'here',
      jobs: 2,
    });
  });

  it('say what was got and what exists', () => {
    expect(problemsOf()[0]).toMatch(
      /can’t run nothing\. Use one of learning, ablation, algorithms, echo-trap, preferences, rollout-shaping/,
    );
    expect(problemsOf('chess')[0]).toMatch(/can’t run chess/);
    expect(problemsOf('ablation', 'algorithms')[0]).toMatch(/can’t run ablation algorithms/);
    expect(problemsOf('ablation', '--fast')[0]).toMatch(/--fast: no such flag\. Have --seeds/);
    expect(problemsOf('ablation', '--seeds', '0')[0]).toMatch(/--seeds can’t be 0\. Use a whole number from 1/);
    expect(problemsOf('ablation', '--arms', 'ppo')[0]).toMatch(/can’t be ppo\. Use some of ppo-both/);
    expect(problemsOf('ablation', '--backend', 'quantum')[0]).toMatch(/--backend: quantum isn’t one of auto/);
    expect(problemsOf('ablation', '--out')[0]).toMatch(/--out needs a value/);
    expect(problemsOf('ablation', '--seeds', 'x', '--jobs', '0.5', '--updates', '-1')).toHaveLength(3);
  });
});

describe('a run and its files', () => {
  const { plan } = parseExperimentArguments('rollout-shaping --seeds 1 --updates 1 --arms turns-2'.split(' '));
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
    const open = () => experimentFiles(folder, plan.experiment, (line) => said.push(line));
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
    rmSync(lines);
    expect([...(await files.read()).values()]).toEqual([result]);
  });
});
