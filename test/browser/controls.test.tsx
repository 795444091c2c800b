import { afterAll, beforeEach, expect, test } from 'vitest';
import { page } from 'vitest/browser';
import { render } from 'vitest-browser-react';
import { parseConfig, type RunConfig } from '../../src/config/config.ts';
import { PRESETS } from '../../src/config/presets.ts';
import { useConfig } from '../../src/page/knobs/configStore.ts';
import { ChangedKnobs } from '../../src/ui/knobs/ChangedKnobs.tsx';
import { ControlPanels } from '../../src/ui/knobs/ControlPanels.tsx';
import { RunBanner } from '../../src/ui/run/RunBanner.tsx';
import { bindEngine, start } from '../../src/page/training/engine.ts';
import { useLive } from '../../src/page/view/liveStore.ts';
import { fakeReady, fakeUpdate } from '../ui/fake-run.ts';
import { stubWorker } from './stubWorker.ts';

const worker = stubWorker();
afterAll(bindEngine());
const asked = () => worker.asked.map(({ type }) => type);
const preset = (set: Partial<RunConfig> = {}) => parseConfig({ ...PRESETS['number-hunt'].set, ...set });

function begin(config: RunConfig): void {
  useConfig.setState({ wanted: config, applied: null, preset: 'number-hunt', undoHistory: [], lastEditedKnob: null });
  start(true);
  worker.say(fakeReady(config));
  worker.asked.length = 0;
}
beforeEach(() => begin(preset()));

test('a typed value out of range says what was got and what is wanted, and stays in the box', async () => {
  await render(<ControlPanels />);
  await page.getByRole('heading', { name: 'Optimizer', exact: true }).click();
  const box = page.getByLabelText('Learning rate η', { exact: true });
  await box.fill('9');
  const message = page.getByRole('alert').filter({ hasText: '9 isn’t a number from 0 to 0.1' });
  await expect.element(message).toBeVisible();
  await expect.element(box).toHaveValue('9');
  await expect.element(box).toHaveAttribute('aria-invalid', 'true');
  expect(useConfig.getState().wanted.learningRate).toBe(0.001);
  await box.fill('0.01');
  await expect.element(message).not.toBeInTheDocument();
  await expect.poll(() => useConfig.getState().wanted.learningRate).toBe(0.01);
});

test('“2 changed” opens the list of changes and leaves the run alone; what is put back is put back without a restart', async () => {
  begin(preset({ layers: 3, learningRate: 0.01 }));
  await render(<ChangedKnobs />);
  await page.getByRole('button', { name: '2 changed' }).click();
  const list = page.getByRole('dialog', { name: 'Changed from Number hunt · GRPO' });
  await expect.element(list.getByText('0.001 → 0.01')).toBeVisible();
  await expect.element(list.getByText('2 → 3')).toBeVisible();
  await expect.poll(() => list.getByText('in effect').all().length).toBe(2);
  await list.getByRole('button', { name: 'Put back Layers to 2' }).click();
  expect(useConfig.getState().wanted).toMatchObject({ layers: 2, learningRate: 0.01 });
  await list.getByRole('button', { name: 'Put all back' }).click();
  await expect.element(list.getByText('Nothing differs from the preset now.')).toBeVisible();
  expect(useConfig.getState().wanted).toMatchObject({ layers: 2, learningRate: 0.001 });
  // the layers wait for a restart, and the run is the one that was there
  await expect.poll(asked).toEqual(['configure']);
  expect(useConfig.getState().applied).toMatchObject({ layers: 3 });
  expect(useLive.getState()).toMatchObject({ session: 'ready', running: true });
});

test('a worker that dies says so; curves and batch stay, and Start again begins a run in another one', async () => {
  await render(<RunBanner />);
  for (const event of fakeUpdate(1)) worker.say(event.type === 'batch' ? { ...event, kept: [1], bytes: 1 } : event);
  await expect.poll(() => useLive.getState().batch.update).toBe(1);
  worker.fail('made-up crash');
  const problem = page.getByTestId('problem');
  await expect.element(problem.getByText('The training worker stopped: made-up crash')).toBeVisible();
  expect(useLive.getState()).toMatchObject({ session: 'failed', running: false });
  expect([
    useLive.getState().series.get('rollout/success')?.length,
    useLive.getState().batch.update,
    useLive.getState().isExample,
  ]).toEqual([1, 1, false]);
  await problem.getByRole('button', { name: 'Start again' }).click();
  await expect.poll(asked).toContain('start');
  worker.say(fakeReady(preset()));
  await expect.poll(() => useLive.getState()).toMatchObject({ session: 'ready', running: true });
});
