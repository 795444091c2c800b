import { expect, test, vi } from 'vitest';
import { page } from 'vitest/browser';
import { render } from 'vitest-browser-react';
import { useConfig } from '../../src/page/knobs/configStore.ts';
import { useLive } from '../../src/page/view/liveStore.ts';
import { PassGate } from '../../src/ui/run/PassGate.tsx';
import type { Answer, Question } from '../../src/wire/questions.ts';

const asked: Question[] = [];
vi.mock('../../src/page/training/transport.ts', async (original) => ({
  ...(await original<object>()),
  // four of 32 tasks are never solved, the others in half of 16 tries
  question: (question: Question): Promise<Answer> => {
    asked.push(question);
    const solved = Array.from({ length: 32 }, (_, task) => (task < 4 ? 0 : 8));
    return Promise.resolve({ kind: 'tries', solved, tries: 16 });
  },
}));

test('nothing is played before a press; then pass@k, what was never solved and how many groups teach nothing are said, again for a new run', async () => {
  const { wanted } = useConfig.getState();
  useConfig.setState({ wanted: { ...wanted, groupSize: 8, warmStart: 'none' } });
  useLive.setState({ session: 'ready', run: 1, update: 0 });
  await render(<PassGate />);
  await expect.element(page.getByText('How often is a task solved before RL?')).toBeVisible();
  expect(asked).toEqual([]);
  await page.getByRole('button', { name: 'Try 32 tasks 16 times each' }).click();
  // 28 of 32 tasks in half of their tries: pass@1 is 28/32 · ½ = 44 %, pass@16 is 28/32 = 88 %
  await expect.element(page.getByText(/^pass@1: 44 % .*pass@16: 88 %/)).toBeVisible();
  await expect.element(page.getByText(/^4 of 32 tasks were never solved in 16 tries/)).toBeVisible();
  // by hand: 4/32 surely, and of the others 2 · C(8,8)/C(16,8) = 2/12870
  await expect.element(page.getByText(/^13 % of groups of 8 would be all right or all wrong/)).toBeVisible();
  useLive.setState({ run: 2 });
  await expect.poll(() => asked.length).toBe(2);
  expect(asked[0]).toMatchObject({ kind: 'tries', tasks: 32, tries: 16, anyway: false });
});
