import { expect, test } from 'vitest';
import { render } from 'vitest-browser-react';
import '../../src/ui/styles/theme.css';
import '../../src/ui/drawings/drawings.css';
import { NumberLine } from '../../src/ui/drawings/NumberLine.tsx';

const GUESSES = [
  { turn: 1, value: 0, answer: 'higher' },
  { turn: 2, value: 14, answer: 'higher' },
  { turn: 3, value: 13, answer: 'higher' },
  { turn: 4, value: 1, answer: 'lower' },
  { turn: 5, value: 15, answer: 'lower' },
  { turn: 12, value: 2, answer: 'lower' },
] as const;

test('guesses at the ends keep their arrows and answers inside the drawing, and off the numbers of their turns', async () => {
  await render(<NumberLine view={{ kind: 'number-line', range: 16, target: 15, guesses: [...GUESSES] }} turn={0} />);
  const svg = document.querySelector<SVGSVGElement>('.env-svg')!;
  const { width } = svg.viewBox.baseVal;
  const boxes = (selector: string) =>
    Array.from(svg.querySelectorAll<SVGGraphicsElement>(selector), (e) => e.getBBox());
  const drawn = boxes('.guess-answer, .pointer, .guess-dot, .target-label');
  expect(drawn).toHaveLength(3 * GUESSES.length + 1);
  for (const box of drawn) {
    expect(box.x).toBeGreaterThanOrEqual(0);
    expect(box.x + box.width).toBeLessThanOrEqual(width);
  }
  const numbers = boxes('.turn-number');
  const rightmost = Math.max(...numbers.map(({ x, width: own }) => x + own));
  for (const { x } of boxes('.guess-dot, .pointer, .guess-answer')) expect(x).toBeGreaterThanOrEqual(rightmost + 3);
});

test('no answer lies over an edge of what is still possible', async () => {
  const guesses = [
    { turn: 1, value: 11, answer: 'lower' },
    { turn: 2, value: 14, answer: 'lower' },
    { turn: 3, value: 6, answer: 'lower' },
    { turn: 4, value: 3, answer: 'higher' },
  ] as const;
  await render(<NumberLine view={{ kind: 'number-line', range: 16, target: 5, guesses: [...guesses] }} turn={0} />);
  for (const guess of document.querySelectorAll('.guess')) {
    const answer = guess.querySelector<SVGGraphicsElement>('.guess-answer')!.getBBox();
    const band = guess.querySelector<SVGGraphicsElement>('.interval')!.getBBox();
    if (answer.y >= band.y + band.height - 3) continue; // below it
    for (const edge of [band.x, band.x + band.width]) {
      expect(edge > answer.x && edge < answer.x + answer.width).toBe(false);
    }
  }
});
