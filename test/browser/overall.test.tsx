import { expect, test } from 'vitest';
import { render } from 'vitest-browser-react';
import { parseConfig } from '../../src/config/config.ts';
import { addMetrics } from '../../src/runs/runLog.ts';
import { useLive } from '../../src/page/view/liveStore.ts';
import { EvaluationChange } from '../../src/ui/talk/Talk.tsx';

test('beside a task that is asked stands what training did to all of them, once that was measured twice', async () => {
  useLive.setState({ config: parseConfig({ env: 'number-hunt', evalTasks: 16 }) });
  const { getByTestId } = await render(<EvaluationChange />);
  addMetrics(useLive.getState().series, 0, { 'eval/success': 5 / 16 });
  useLive.setState({ metricsVersion: 1 });
  await expect.poll(() => getByTestId('talk-overall').query()).toBeNull();
  addMetrics(useLive.getState().series, 20, { 'eval/success': 12 / 16 });
  useLive.setState({ metricsVersion: 2 });
  await expect
    .element(getByTestId('talk-overall'))
    .toHaveTextContent(/\(16\): 31 % before training, 75 % at update 20/);
});
