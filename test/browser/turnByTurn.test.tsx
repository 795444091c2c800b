import { expect, test } from 'vitest';
import { render } from 'vitest-browser-react';
import { useTurnByTurn } from '../../src/page/view/turnByTurn.ts';

const TURNS = 4;
const drawn: string[] = [];

function Turns({ picked }: { readonly picked: string }) {
  const shown = useTurnByTurn(picked, TURNS);
  const all = Array.from({ length: TURNS }, (_, place) => shown(place)).join('');
  if (drawn.at(-1) !== all) drawn.push(all);
  return <p>{all}</p>;
}

test('what is picked reaches one turn more with each drawing, the first ones first', async () => {
  const { rerender, getByText } = await render(<Turns picked="m" />);
  await expect.element(getByText('mmmm')).toBeVisible();
  drawn.length = 0;
  await rerender(<Turns picked="a" />);
  await expect.element(getByText('aaaa')).toBeVisible();
  expect(drawn.at(-1)).toBe('aaaa');
  // a drawing that is begun twice is one
  expect(['mmmm', ...drawn].filter((all, i, list) => all !== list[i - 1])).toEqual(['mmmm', 'ammm', 'aamm', 'aaam', 'aaaa']); // prettier-ignore
});

test('picked anew on the way, a turn goes from what it shows to what is wanted last', async () => {
  const { rerender, getByText } = await render(<Turns picked="m" />);
  await expect.element(getByText('mmmm')).toBeVisible();
  await rerender(<Turns picked="a" />);
  drawn.length = 0;
  await rerender(<Turns picked="b" />);
  await expect.element(getByText('bbbb')).toBeVisible();
  expect(drawn.at(-1)).toBe('bbbb');
  const stale = drawn.map((all) => all.split('a').length - 1); // turns that show what is wanted no more
  expect(stale).toEqual(stale.toSorted((x, y) => y - x));
  expect(drawn.every((all) => /^b*a*m*$/.test(all))).toBe(true);
});
