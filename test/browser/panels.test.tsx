import { afterAll, beforeEach, expect, test } from 'vitest';
import { page, userEvent } from 'vitest/browser';
import { render } from 'vitest-browser-react';
import { parseConfig, type RunConfig } from '../../src/config/config.ts';
import type { RunCommand } from '../../src/wire/commands.ts';
import type { Health } from '../../src/domain/health.ts';
import { undoEdit, useConfig } from '../../src/page/knobs/configStore.ts';
import { bindEngine, start } from '../../src/page/training/engine.ts';
import { example } from '../ui/example.ts';
import { useLive } from '../../src/page/view/liveStore.ts';
import { rolloutTokensOf } from '../../src/page/rollout/pairs.ts';
import { AlgorithmPanel } from '../../src/ui/knobs/ControlPanels.tsx';
import { ImitationCurve } from '../../src/ui/run/Dock.tsx';
import { RewardChip } from '../../src/ui/parts/RewardChip.tsx';
import { Nav, SkipLink } from '../../src/ui/shell/App.tsx';
import { StatusLine } from '../../src/ui/frame/StatusLine.tsx';
import { GroupStrip } from '../../src/ui/run/GroupStrip.tsx';
import { HealthChip } from '../../src/ui/run/HealthChip.tsx';
import { HealthPanel } from '../../src/ui/run/HealthPanel.tsx';
import { MaskInvariants } from '../../src/ui/knobs/MaskDetails.tsx';
import { Preferences } from '../../src/ui/run/Preferences.tsx';
import '../../src/ui/styles/theme.css';
import '../../src/ui/parts/parts.css';
import { fakeHealth, fakeReady } from '../ui/fake-run.ts';
import { stubWorker } from './stubWorker.ts';

const defaults = parseConfig();
const worker = stubWorker();
const unbind = bindEngine();
afterAll(unbind);

function begin(config: RunConfig = defaults): void {
  useConfig.setState({ wanted: config, applied: null, undoHistory: [], lastEditedKnob: null });
  start(true);
  worker.say(fakeReady(config));
  worker.asked.length = 0;
}
/** Rollouts of the run begun: the hand-made group. */
function arrive(): void {
  useLive.setState({ batch: example });
  useLive.setState({ isExample: false });
}
beforeEach(() => {
  begin();
  arrive();
});

const sent = <T extends RunCommand['type']>(type: T) =>
  worker.asked.filter((command): command is Extract<RunCommand, { type: T }> => command.type === type);

test('choosing an algorithm sends its knobs to the run at once, and undo takes them back', async () => {
  await render(<AlgorithmPanel />);
  await page.getByLabelText('Algorithm').selectOptions('dapo');
  await expect.poll(() => sent('configure')).toHaveLength(1);
  expect(sent('configure')[0]?.changes).toMatchObject({ clipHigh: 0.28, filter: 'drop-uniform' });
  await expect.element(page.getByText('rollouts all succeed or all fail')).toBeVisible();
  undoEdit();
  expect(useConfig.getState().wanted).toEqual(defaults);
});

test('an algorithm with a knob turned keeps its name, says what is other, and offers the way back', async () => {
  useConfig.setState({ wanted: parseConfig({ clipHigh: 0.3 }) });
  await render(<AlgorithmPanel />);
  await expect.element(page.getByLabelText('Algorithm')).toHaveValue('grpo');
  await expect.element(page.getByText('GRPO, but with Clip high ε₊ 0.3.')).toBeVisible();
  await page.getByRole('button', { name: 'Set to GRPO' }).click();
  await expect.element(page.getByLabelText('Algorithm')).toHaveValue('grpo');
});

test('without a critic, PPO says what it lacks and offers the restart', async () => {
  begin(parseConfig({ critic: 'none' }));
  await render(<AlgorithmPanel />);
  await page.getByLabelText('Algorithm').selectOptions('ppo');
  await expect.element(page.getByText('needs a critic')).toBeVisible();
  await page.getByRole('button', { name: 'Restart with a critic' }).click();
  await expect.poll(() => sent('start')[0]?.config).toMatchObject({ estimator: 'gae', critic: 'shared' });
  expect(sent('configure')).toEqual([]);
});

function health(update: number): Health {
  const value = fakeHealth(update, true);
  worker.say({ type: 'health', update, health: value });
  return value;
}

test.each([
  [1, 'OK'],
  [4, 'WATCH'],
  [9, 'TRAP'],
])('after update %i the monitor’s chip says %s in words', async (update, word) => {
  health(update);
  await render(<HealthChip />);
  await expect.element(page.getByTestId('health')).toHaveTextContent(`${word} run health`);
});

test('an alarm quotes its evidence, and a remedy is one undoable change that reaches the run', async () => {
  const { evidence } = health(9);
  await render(<HealthPanel />);
  await expect.element(page.getByText('since update 6')).toBeVisible();
  for (const { text } of evidence) await expect.element(page.getByText(text)).toBeVisible();
  const remedy = page.getByRole('button', { name: 'StarPO-S' });
  await expect.element(remedy).toHaveTextContent('Group filter none → top-fraction');
  await remedy.click();
  await expect.poll(() => sent('configure')).toHaveLength(1);
  expect(sent('configure')[0]?.changes).toEqual({ filter: 'top-fraction', clipHigh: 0.28 });
  await expect.element(remedy).toBeDisabled();
  undoEdit();
  expect(useConfig.getState().wanted).toEqual(defaults);
});

test('a graded word of the tool under the loss mask is reported as broken, in words', async () => {
  await render(<MaskInvariants />);
  worker.say({ type: 'metrics', update: 3, values: { 'mask/observation_weights': 4, 'mask/length_mismatch': 0 } });
  const panel = page.getByTestId('invariants');
  await expect.element(panel.getByText('should be 0')).toBeVisible();
  await expect.element(panel.getByText('holds')).toBeVisible();
});

test('the numbers are judged by the masks they were measured under, not by those just set', async () => {
  await render(<MaskInvariants />);
  worker.say({ type: 'metrics', update: 3, values: { 'mask/observation_weights': 0 } });
  useConfig.setState({ wanted: parseConfig({ lossMask: 'off', advantageMask: 'off' }) });
  await expect.element(page.getByTestId('invariants').getByText('holds')).toBeVisible();
});

test('rollouts of a prompt that was filtered out are marked in words', async () => {
  useLive.setState({ batch: { ...example, kept: new Uint8Array(example.rows) } });
  await render(<GroupStrip />);
  await expect.element(page.getByText('not trained (filtered)')).toBeVisible();
  await expect.element(page.getByRole('button', { name: /^Rollout 1:.*not trained \(filtered\)$/ })).toBeVisible();
});

test.each(['A', 'B'] as const)('the key %s sends both attempts, the better one first', async (side) => {
  begin(parseConfig({ rewardModel: 'on', preferenceReward: 1 }));
  arrive();
  await render(<Preferences />);
  await expect.element(page.getByRole('region', { name: 'Rollout A' })).toBeVisible();
  await userEvent.keyboard(side.toLowerCase());
  await expect.poll(() => sent('prefer')).toHaveLength(1);
  const attempts = [rolloutTokensOf(example, 0), rolloutTokensOf(example, 1)];
  const [better, worse] = side === 'A' ? attempts : attempts.reverse();
  expect(sent('prefer')[0]).toEqual({ type: 'prefer', better, worse });
});

test('skipping sends nothing, and without a reward model no choice can be made', async () => {
  await render(<Preferences />);
  await expect.element(page.getByRole('button', { name: 'A is better' })).toBeDisabled();
  await userEvent.keyboard('ab');
  await expect.element(page.getByText('There is no reward model')).toBeVisible();
  expect(sent('prefer')).toEqual([]);
});

test('an estimator that no algorithm has is custom, and the nearest algorithm is named', async () => {
  useConfig.setState({ wanted: parseConfig({ estimator: 'bi-level-gae', critic: 'shared' }) });
  await render(<AlgorithmPanel />);
  await expect.element(page.getByLabelText('Algorithm')).toHaveValue('custom');
  await expect.element(page.getByText(/^Closest to PPO, except for/)).toBeVisible();
});

test('a penalty has another colour than a reward', async () => {
  await render(
    <>
      <RewardChip amount={0.5}>paid</RewardChip>
      <RewardChip amount={-0.5}>taken</RewardChip>
    </>,
  );
  const colour = (text: string) => getComputedStyle(page.getByText(text).element()).backgroundColor;
  expect(colour('taken')).not.toBe(colour('paid'));
});

test('the skip link comes before everything and leads to the screen one is on, in the navigation', async () => {
  await render(
    <>
      <SkipLink />
      <button type="button">of the screen</button>
      <Nav />
    </>,
  );
  await userEvent.keyboard('{Tab}');
  await expect.element(page.getByRole('link', { name: 'Skip to navigation' })).toHaveFocus();
  await userEvent.keyboard('{Enter}');
  await expect.poll(() => document.activeElement?.getAttribute('aria-current')).toBe('page');
});

test('the loss of an imitation is drawn from its second step on', async () => {
  useLive.setState({ losses: [3] });
  await render(<ImitationCurve />);
  expect(page.getByTestId('imitation-curve').query()).toBeNull();
  useLive.setState({ losses: [3, 1.5, 0.5] });
  await expect
    .element(page.getByRole('img', { name: /^Imitation loss over 3 steps: 3 at the first, 0\.5/ }))
    .toBeInTheDocument();
  useLive.setState({ update: 2 }); // RL has curves of its own
  await expect.poll(() => page.getByTestId('imitation-curve').query()).toBeNull();
  useLive.setState({ losses: [], update: 0 });
});

test('the status line counts no dispatches where there are none', async () => {
  useLive.setState({ metrics: { 'engine/tokens_per_second': 900, 'engine/dispatches': 0, 'engine/submits': 0 } });
  useLive.setState((s) => ({ metricsVersion: s.metricsVersion + 1 }));
  await render(<StatusLine />);
  await expect.element(page.getByText('900 tokens/s')).toBeVisible();
  expect(page.getByText(/dispatches|submits/).query()).toBeNull();
  useLive.setState({ metrics: {} });
});
