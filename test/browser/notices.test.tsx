import { expect, test } from 'vitest';
import { page } from 'vitest/browser';
import { render } from 'vitest-browser-react';
import { notice } from '../../src/page/browser/notices.ts';
import { Notices } from '../../src/ui/shell/App.tsx';
import '../../src/ui/styles/theme.css';
import '../../src/ui/parts/parts.css';

test('beside a sentence of several lines “Dismiss” keeps its word inside its button, and takes the sentence away', async () => {
  await render(<Notices />);
  notice(`Nothing on this page reads “picture.png”. ${'You can drop other files. '.repeat(20)}`);
  const dismiss = page.getByRole('button', { name: 'Dismiss' });
  await expect.element(dismiss).toBeVisible();
  const button = dismiss.element();
  const word = document.createRange();
  word.selectNodeContents(button);
  expect(word.getClientRects()).toHaveLength(1); // one line
  expect(word.getBoundingClientRect().width).toBeLessThan(button.getBoundingClientRect().width);
  await dismiss.click();
  await expect.element(dismiss).not.toBeInTheDocument();
});
