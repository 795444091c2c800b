import { expect, test, vi } from 'vitest';
import { page, userEvent } from 'vitest/browser';
import { render } from 'vitest-browser-react';
import { parseConfig } from '../../src/config/config.ts';
import { GroupOfRollouts } from '../../src/ui/group/Group.tsx';
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
    const now = Float32Array.from(exampleVocabulary, (word) => (['7', '8'].includes(word) ? -9 : -2));
    return Promise.resolve({ kind: 'distribution', before: null, after: null, now });
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
