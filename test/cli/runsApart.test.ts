import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { runInProcesses } from '../../src/cli/runInProcesses.ts';
import { parseConfig } from '../../src/config/config.ts';
import { resultFromRun } from '../../src/experiments/runResult.ts';
import { runWithDefaults } from '../../src/runs/run.ts';

/** For what takes milliseconds on an idle machine. */
const PATIENT = { timeout: 240_000 };

/** A program in place of the one that trains: what it does is the name of the arm. */
const PROGRAM = `
process.on('disconnect', () => process.exit(1));
process.once('message', ({ run: { arm } }) => {
  process.send({ type: 'update', update: process.pid });
  if (arm === 'dies') process.exit(3);
  if (arm === 'refuses') process.send({ type: 'failed', message: 'no room' }, () => process.disconnect());
  if (arm.startsWith('ends')) process.send({ type: 'done', log: arm }, () => process.disconnect());
  setInterval(() => undefined, 1000); // anything else hangs
});
`;
let folder = '';
const [node = '', own = ''] = process.argv;
beforeAll(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'runs-apart-'));
  const program = path.join(folder, 'program.mjs');
  writeFileSync(program, PROGRAM);
  process.argv.splice(0, 2, node, program);
});
afterAll(() => {
  process.argv.splice(0, 2, node, own);
  rmSync(folder, { recursive: true, force: true });
});

/** Has arms trained; `account` says what came of them, `begun` who of them began. With `stopAt` all are stopped once so many have begun. */
function train(
  arms: readonly string[],
  jobs: number,
  { keep, stopAt }: { keep?: (arm: string) => void; stopAt?: number } = {},
) {
  const account: string[] = [];
  const begun: string[] = [];
  const pids: number[] = [];
  const stop = new AbortController();
  const over = runInProcesses(
    arms.map((arm) => ({ experiment: 'test', arm, seed: 1, config: parseConfig() })),
    {
      ...{ jobs, signal: stop.signal },
      onUpdate: ({ arm }, { update }) => {
        begun.push(arm);
        pids.push(update);
        if (begun.length === stopAt) stop.abort();
      },
      storeLog: async ({ arm, config }, log) => {
        await Promise.resolve(keep?.(arm));
        return resultFromRun(runWithDefaults({ id: 0, name: log, started: '', begun: config }), 'test');
      },
      onDone: ({ arm }, result) => account.push(`${arm}: ${result.arm}`),
      onFailure: ({ arm }, why) => account.push(`${arm}: ${why}`),
    },
  );
  return { account, begun, pids, over };
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

test('runs are trained in their order; of one that fails or whose process ends the reason is told, and the next one begins', async () => {
  const kept: string[] = [];
  const { account, begun, over } = train(['ends', 'dies', 'refuses', 'ends too'], 1, { keep: (arm) => kept.push(arm) });
  await over;
  expect(account).toEqual(['ends: ends', 'dies: its process ended with code 3', 'refuses: no room', 'ends too: ends too']); // prettier-ignore
  expect(begun).toEqual(['ends', 'dies', 'refuses', 'ends too']);
  expect(kept).toEqual(['ends', 'ends too']);
});

test('a signal ends the runs under way, also those that hang, and begins no other', async () => {
  const { account, begun, pids, over } = train(['hangs', 'hangs too', 'ends'], 2, { stopAt: 2 });
  await over;
  expect(begun.toSorted()).toEqual(['hangs', 'hangs too']);
  await vi.waitFor(() => expect(pids.filter(isAlive)).toEqual([]), PATIENT);
  expect(account).toEqual([]);
  await train(['ends'], 1).over; // processes begin as before
});

test('a result that cannot be kept ends all runs, and is the reason', async () => {
  const keep = () => {
    throw new Error('the disk is full');
  };
  const { account, pids, over } = train(['hangs', 'ends', 'ends too'], 2, { keep });
  await expect(over).rejects.toThrow('the disk is full');
  await vi.waitFor(() => expect(pids.filter(isAlive)).toEqual([]), PATIENT);
  expect(account).toEqual([]);
});
