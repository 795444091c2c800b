import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { runLogs } from '../../src/cli/experimentFiles.ts';
import { parseConfig } from '../../src/config/config.ts';
import { resultFromRun, type RunIdentity, runKey } from '../../src/experiments/runResult.ts';
import { logText } from '../../src/runs/log.ts';
import { runWithDefaults, type Run } from '../../src/runs/run.ts';
import { Series } from '../../src/runs/series.ts';

let folder = '';
beforeAll(() => (folder = mkdtempSync(path.join(tmpdir(), 'run-logs-'))));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const identityOf = (seed: number): RunIdentity => ({ experiment: 'sweep', arm: 'as set', seed, config: parseConfig({ seed }) }); // prettier-ignore
function runOf(seed: number): Run {
  const curve = Series.of({ x: Uint32Array.of(1, 2), y: Float64Array.of(0.1 + 0.2, seed / 10) });
  return runWithDefaults({
    ...{ id: 0, name: 'as set', arm: 'as set', started: '2026-11-26T00:00:00.000Z', begun: parseConfig({ seed }) },
    ...{ update: 2, series: new Map([['rollout/success', curve]]), seconds: 1.5, skipped: 1 },
    health: [{ update: 2, health: { state: 'trap', since: 2, kind: 'blind', evidence: [], remedies: [] } }],
  });
}

test('a run’s log holds all that tables are made of: the numbers, the time, skipped steps, and where the monitor said TRAP', async () => {
  const logs = await runLogs(path.join(folder, 'new'), 'sweep', () => undefined);
  const added = await logs.add(identityOf(3), logText(runOf(3)));
  expect(added).toEqual(resultFromRun(runOf(3), 'sweep'));
  expect(added).toMatchObject({ seed: 3, skipped: 1, seconds: 1.5, health: [[2, 'trap']], curve: [0.3, 0.3] });
  expect(await logs.read()).toEqual(new Map([[runKey(identityOf(3)), added]]));
});

test('results of an older version are read and taken over beside logs; a file that can’t be read is named and left out', async () => {
  const old = path.join(folder, 'old');
  const said: string[] = [];
  mkdirSync(old);
  const { randomness, ...config } = parseConfig({ seed: 1, randomness: 'group' });
  const written = { ...resultFromRun(runOf(1), 'sweep'), config: { ...config, luck: randomness } }; // the knob's former name
  writeFileSync(path.join(old, 'as,set,seed=1-00000000.json'), JSON.stringify(written));
  writeFileSync(path.join(old, `${runKey(identityOf(2))}.jsonl`), logText(runOf(2)));
  writeFileSync(path.join(old, 'cut.jsonl'), '{"kind":"run"');
  writeFileSync(path.join(old, 'half.jsonl.77.tmp'), '{');
  const logs = await runLogs(path.join(folder, 'merged'), 'sweep', (line) => said.push(line));
  await logs.add(identityOf(2), logText({ ...runOf(2), skipped: 7 }));
  await logs.copyMissing(old);
  expect(readdirSync(path.join(folder, 'merged'))).toHaveLength(3);
  const read = await logs.read();
  expect([...read.values()].map(({ seed, skipped }) => [seed, skipped]).toSorted()).toEqual([[1, 1], [2, 7]]); // prettier-ignore
  expect(read.has(runKey({ ...identityOf(1), config: parseConfig({ seed: 1, randomness: 'group' }) }))).toBe(true);
  expect(said).toEqual([expect.stringMatching(/cut\.jsonl: left out, and run again\. line 1: found /)]);
});
