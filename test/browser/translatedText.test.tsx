import { useState } from 'react';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { page } from 'vitest/browser';
import { render } from 'vitest-browser-react';
import { keepTranslatedTextLive } from '../../src/page/browser/translatedText.ts';
import { simulateTranslation } from './simulateTranslation.ts';

let undo: () => void;
beforeEach(() => {
  undo = keepTranslatedTextLive();
  simulateTranslation();
});
afterEach(() => undo());

/** All that React does with a text: gives it another value, takes it away, puts it back, moves it, hides it beside others. */
function Texts() {
  const [step, setStep] = useState(0);
  const order = step % 2 === 0 ? ['first', 'second'] : ['second', 'first'];
  return (
    <>
      <p data-testid="texts">
        after {step} updates{step % 3 === 1 && <b>it learns</b>}
        {step % 2 === 1 && 'odd now'} <i>mean</i> {step > 1 ? 'many words' : null}
        <input aria-label="a field" />
        {order.map((word) => [`${word} of two`, <u key={word}>{word}</u>])}
      </p>
      <p data-testid="one">{`one text, ${step}`}</p>
      <button type="button" onClick={() => setStep(step + 1)}>
        1
      </button>
    </>
  );
}

const textOf = (id: string) => page.getByTestId(id).element().textContent;
const at = (step: number) =>
  [
    `after ${step} updates`,
    step % 3 === 1 ? 'it learns' : '',
    step % 2 === 1 ? 'odd now' : '',
    ' mean ',
    step > 1 ? 'many words' : '',
    ...(step % 2 === 0 ? ['first of twofirst', 'second of twosecond'] : ['second of twosecond', 'first of twofirst']),
  ].join('');

const normal = (text: string) => text.replaceAll(/\s+/g, ' ').toLowerCase();
/** A text's letters, sorted: a translator may gather the texts of a parent in one place. */
const letters = (text: string) => normal(text).split('').toSorted().join('').trim();

test.each(['replaces', 'moves', 'gathers'] as const)(
  'each text of a translated page goes on showing what React says, once, when the translator %s it',
  async (kind) => {
    const { unmount } = await render(<Texts />);
    const end = window.__translateOn(kind);
    expect(textOf('texts')).toContain('UPDATES');
    const field = page.getByRole('textbox');
    await field.click();
    for (let step = 1; step <= 6; step++) {
      // the focus stays where it is: a press with the mouse would move it
      page
        .getByRole('button')
        .element()
        .dispatchEvent(new MouseEvent('click', { bubbles: true }));
      const shown = kind === 'gathers' ? letters : normal;
      await expect.poll(() => shown(textOf('texts'))).toBe(shown(at(step)));
      await expect.poll(() => normal(textOf('one'))).toBe(`one text, ${step}`);
      expect(document.activeElement).toBe(field.element());
      await expect.poll(() => textOf('texts')).toContain('UPDATES'); // translated anew
    }
    await unmount();
    end();
    expect(document.body.textContent).not.toMatch(/updates|learns/i);
  },
);
