import { expect, test } from 'vitest';
import { page, userEvent } from 'vitest/browser';
import { render } from 'vitest-browser-react';
import { parseConfig } from '../../src/config/config.ts';
import { useConfig } from '../../src/page/knobs/configStore.ts';
import { GroupOfRollouts } from '../../src/ui/group/Group.tsx';
import { useLive } from '../../src/page/view/liveStore.ts';
import { useSelection } from '../../src/page/view/selectionStore.ts';
import { example, exampleVocabulary } from '../ui/example.ts';

const rowsOf = (name: string) =>
  [...document.querySelectorAll(`[data-testid="${name}"]`)].map((each) => each.textContent);
const numbers = (name: string) => rowsOf(name).map((text) => Number(text.replace('−', '-').replace('+', '')));

test('a row for each rollout of the group, aligned at the first token that differs; another estimator comes on demand; arrow keys move', async () => {
  const batchConfig = parseConfig({ estimator: 'grpo', divideByStd: 'on' });
  useLive.setState({ batch: example, vocabulary: exampleVocabulary, batchConfig });
  useConfig.setState({ wanted: batchConfig, applied: null });
  useSelection.setState({ row: example.episodes[0]?.row ?? 0, turn: null, token: null });
  await page.viewport(1280, 720);
  await render(<GroupOfRollouts />);
  const group = example.episodes.filter((each) => each.group === example.episodes[0]?.group);
  const rewards = group.map(({ reward }) => reward);
  await expect.poll(() => numbers('group-score')).toEqual(rewards.map((reward) => Number(reward.toPrecision(5))));

  const firsts = [
    ...document.querySelectorAll('.group-table .word[data-diverges="true"], .group-table .tag[data-diverges="true"]'),
  ];
  expect(firsts.length).toBe(group.length);
  expect(new Set(firsts.map((each) => each.closest('.group-turns')?.getBoundingClientRect().left)).size).toBe(1);

  expect(rowsOf('group-compared')).toEqual([]);
  await page.getByRole('button', { name: 'RLOO' }).click();
  const sum = rewards.reduce((a, b) => a + b, 0);
  await expect.poll(() => rowsOf('group-compared').length).toBe(group.length);
  numbers('group-compared').forEach((value, i) => {
    expect(value).toBeCloseTo((rewards[i] ?? 0) - (sum - (rewards[i] ?? 0)) / (rewards.length - 1), 3);
  });

  document.querySelector<HTMLElement>('.group-turn[tabindex="0"]')?.focus();
  await userEvent.keyboard('{ArrowDown}');
  await expect.poll(() => useSelection.getState().row).toBe(group[1]?.row);
  expect(document.activeElement?.getAttribute('data-place')).toMatch(/^1 /);
  expect(document.querySelectorAll('.group-turn[tabindex="0"]').length).toBe(1);
});

test('MUST-14: a group of one reward teaches nothing, and says so', async () => {
  const paid = example.episodes.map((each) => ({ ...each, reward: 0.25 }));
  useLive.setState({ batch: { ...example, episodes: paid, advantages: new Float32Array(example.advantages.length) } });
  await render(<GroupOfRollouts />);
  await expect.element(page.getByTestId('flat-group')).toHaveTextContent('teaches nothing');
  expect(numbers('group-score')).toEqual(paid.map(() => 0.25));
  expect(rowsOf('group-advantage')).toEqual(paid.map(() => '0'));
});
