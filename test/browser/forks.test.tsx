import { afterAll, expect, test } from 'vitest';
import { page } from 'vitest/browser';
import { render } from 'vitest-browser-react';
import { parseConfig } from '../../src/config/config.ts';
import { Forks } from '../../src/ui/compare/Forks.tsx';
import { bindEngine, start } from '../../src/page/training/engine.ts';
import { useLive } from '../../src/page/view/liveStore.ts';
import { useRuns } from '../../src/page/runs/runStore.ts';
import { fakeReady } from '../ui/fake-run.ts';
import { stubWorker } from './stubWorker.ts';

const config = parseConfig({ seed: 3 });
const worker = stubWorker();
afterAll(bindEngine());
const starts = () => worker.asked.flatMap((command) => (command.type === 'start' ? [command.config] : []));

test('a fork needs a run and a value that can be, and says so beside its button', async () => {
  await render(<Forks />);
  const fork = page.getByRole('button', { name: 'Fork', exact: true });
  await expect.element(fork).toBeDisabled();
  await expect.element(page.getByText('Run training first')).toBeVisible();
  start(false);
  worker.say(fakeReady(config));
  useLive.setState({ update: 1 });
  await expect.element(fork).toBeEnabled();
  await page.getByLabelText('Knob to change').selectOptions('clipLow');
  await page.getByLabelText('Value in B').fill('7');
  await expect.element(page.getByText('Use 0 to 1.')).toBeVisible();
  await expect.element(fork).toBeDisabled();
});

test('GRPO and PPO are trained one after the other at one press, drawn, and taken away by undo', async () => {
  await render(<Forks />);
  worker.asked.length = 0;
  await page.getByRole('button', { name: 'PPO against GRPO' }).click();
  for (const [arm, estimator, success] of [
    ['GRPO', 'grpo', 0.75],
    ['PPO', 'gae', 0.5],
  ] as const) {
    await expect.poll(() => starts().at(-1)?.estimator).toBe(estimator);
    const asked = starts().at(-1) ?? config;
    worker.say(fakeReady(asked));
    const id = worker.asked.reduce((last, command) => (command.type === 'ask' ? command.id : last), 0);
    worker.say({ type: 'answer', id, answer: { kind: 'checksum', checksum: 'a' } });
    worker.say({ type: 'metrics', update: 1, values: { 'rollout/success': success } });
    await expect.element(page.getByText(`${arm}: update 1/${asked.updates}`)).toBeVisible();
    worker.say({ type: 'metrics', update: asked.updates, values: { 'rollout/success': success } });
    worker.say({ type: 'running', running: false, update: asked.updates, finished: true });
  }
  await expect.poll(() => document.querySelectorAll('.run-line[d]').length).toBeGreaterThanOrEqual(2);
  await page.getByRole('button', { name: 'Cancel' }).click(); // it goes on to more seeds unasked
  await expect.element(page.getByText(/After 40 updates: GRPO solves 75 % of .*, PPO 50 %/)).toBeVisible();
  await page.getByRole('button', { name: 'Undo: delete these runs' }).click();
  await expect.poll(() => useRuns.getState().runs.filter(({ arm }) => arm !== undefined)).toEqual([]);
});
