import { expect, test } from 'vitest';
import { page } from 'vitest/browser';
import { render } from 'vitest-browser-react';
import { openFiles } from '../../src/page/files/openFiles.ts';
import { useRuns } from '../../src/page/runs/runStore.ts';
import { Runs } from '../../src/ui/compare/Runs.tsx';

test('a verl log opens with its findings above its curves; a finding draws its curve, with a mark where it began', async () => {
  const lines = Array.from({ length: 40 }, (_, i) => {
    const data = { 'critic/score/mean': 0.3, 'critic/score/min': 0, 'critic/score/max': 1, 'tool_call_counts/mean': i < 20 ? 2 : 0.5 }; // prettier-ignore
    return JSON.stringify({ step: i + 1, data });
  });
  const path = 'gsm8k.jsonl';
  useRuns.setState({ runs: [], slots: [null, null, null, null, null, null] }); // those of other files’ tests
  await openFiles([{ path, file: new File([lines.join('\n')], path) }]);
  await page.viewport(1280, 720);
  await render(<Runs />);
  await expect.element(page.getByText('log of verl, knobs unknown')).toBeVisible();
  await expect.element(page.getByText('The reward was 0.30 in the first 10 updates')).toBeVisible(); // of the first finding
  await expect.element(page.getByRole('link', { name: 'knobs', exact: true })).not.toBeInTheDocument();
  const finding = page.getByRole('button', { name: 'WATCH: Tool calls vanish (updates 27–40)' });
  await finding.click();
  await expect.element(finding).toHaveAttribute('aria-pressed', 'true');
  await expect.element(page.getByText('A rollout has 0.50 tool calls, 25 % of what it had')).toBeVisible();
  await expect.element(page.getByLabelText('Metric')).toHaveValue('tool_call_counts/mean');
  await expect.poll(() => document.querySelector('.flag + .mark-label')?.textContent).toBe('Tool calls vanish');
  await expect.element(page.getByRole('link', { name: 'Reproduce it here, and see what helps' })).toHaveAttribute('href', '#/answers/tool-calls'); // prettier-ignore
});
