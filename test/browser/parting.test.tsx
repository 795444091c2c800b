import { expect, test, vi } from 'vitest';
import { page, userEvent } from 'vitest/browser';
import { render } from 'vitest-browser-react';
import { parseConfig } from '../../src/config/config.ts';
import { GroupOfRollouts } from '../../src/ui/group/Group.tsx';
import { useRuns } from '../../src/page/runs/runStore.ts';
import type { Checkpoint } from '../../src/runs/checkpoint.ts';
import { runWithDefaults } from '../../src/runs/run.ts';
import { useLive } from '../../src/page/view/liveStore.ts';
import { useSelection } from '../../src/page/view/selectionStore.ts';
import type { Answer, Question } from '../../src/wire/questions.ts';
import { example, exampleVocabulary } from '../ui/example.ts';

const asked: Question[] = [];
vi.mock('../../src/page/training/transport.ts', async (original) => ({
  ...(await original<object>()),
  // 7 and 12 are less likely than all other words
  question: (question: Question): Promise<Answer> => {
    asked.push(question);
    if (question.kind === 'branch') return Promise.resolve({ kind: 'branch', branch: example, id: 5 });
    const now = Float32Array.from(exampleVocabulary, (word) => (['7', '8'].includes(word) ? -9 : -2));
    const before = question.kind === 'distribution' && question.since ? now.map((logprob) => logprob + 1) : null;
    return Promise.resolve({ kind: 'distribution', before, after: before && now, now });
  },
}));

test('a second rollout of the group stands beside the chosen one, with the word where they part marked in both and in the policy’s distribution', async () => {
  useLive.setState({ batch: example, vocabulary: exampleVocabulary, batchConfig: parseConfig() });
  useSelection.setState({ row: 0, turn: null, token: null, beside: '' });
  await page.viewport(1280, 900);
  await render(<GroupOfRollouts />);
  await page.getByLabelText('Compare rollout 1 with').selectOptions('1');
  await expect.element(page.getByTestId('parting-sentence')).toHaveTextContent(/A has “7”.*B has “8”/);
  const marked = () => [...document.querySelectorAll('.parting-cell [data-diverges="true"]')].map((each) => each.textContent); // prettier-ignore
  expect(marked()).toEqual(['7', '8']);
  // a bar for each, though they are the least likely of all
  await expect
    .poll(() =>
      [...document.querySelectorAll('.option[data-drawn="true"] .option-word')].map((each) => each.textContent),
    ) // prettier-ignore
    .toEqual(['A 7', 'B 8']);
  expect(asked).toMatchObject([{ kind: 'distribution', rollout: { row: 0 } }]);

  // the other one is chosen by keys, and a narrow screen stacks the two
  page.getByLabelText('Compare rollout 1 with').element().focus();
  await userEvent.keyboard('{ArrowDown}');
  await expect.poll(() => useSelection.getState().beside).toBe('2');
  await page.viewport(390, 844);
  const [a, b] = [...document.querySelectorAll('.parting-cell')].map((cell) => cell.getBoundingClientRect());
  expect(b!.top).toBeGreaterThanOrEqual(a!.bottom);
  await page.getByRole('button', { name: 'End comparison' }).click();
  await expect.element(page.getByTestId('parting')).not.toBeInTheDocument();
});

test('another run whose weights are kept plays the chosen rollout’s task, and both policies’ probabilities stand where they part; a run without weights can’t be chosen, and says why from a link', async () => {
  const begun = parseConfig();
  const weights = new Map([['w', Float32Array.of(1)]]);
  const checkpoint = { vocabulary: exampleVocabulary, networks: { policy: { weights } } } as unknown as Checkpoint;
  const run = (id: number) => runWithDefaults({ id, name: `like run ${id - 1}`, started: '2026-11-30', begun });
  useRuns.setState({ left: [{ ...run(4), checkpoint }], runs: [run(4), run(3)] });
  useLive.setState({ batch: example, vocabulary: exampleVocabulary, batchConfig: begun });
  useSelection.setState({ row: 1, turn: null, token: null, beside: '' });
  await page.viewport(1280, 900);
  await render(<GroupOfRollouts />);
  await expect.element(page.getByRole('option', { name: /^run 3: .*weights aren’t saved/ })).toBeDisabled();
  await page.getByLabelText('Compare rollout 2 with').selectOptions('run-4');
  await expect.element(page.getByTestId('parting-sentence')).toHaveTextContent(/A has “8”.*B has “7”/);
  const drawn = () => [...document.querySelectorAll('.option[data-drawn="true"] .option-p')].map((each) => each.textContent); // prettier-ignore
  await expect.poll(drawn).toEqual(['0.03 · 0.01', '0.03 · 0.01']); // e⁻⁸ and e⁻⁹ in percent
  expect(asked.slice(-2)).toMatchObject([
    { kind: 'branch', rollout: { row: 1 }, position: 0, token: null, weights },
    { kind: 'distribution', rollout: { row: 1 }, since: weights },
  ]);
  useSelection.setState({ beside: 'run-3' });
  await expect.element(page.getByText('The weights of run 3 aren’t saved')).toBeVisible();
});
