import { expect, test } from 'vitest';
import { contextText } from '../../src/page/rollout/contextText.ts';

test('a training row names the turns that it shows again and those that were forgotten', () => {
  const last = (shownTurns: number) => ({ shown: 'last-turns', shownTurns }) as const;
  expect(contextText({ shown: 'everything', shownTurns: 1 }, 3)).toBe(
    'Row 4 begins. It shows the prompt and turns 1–3 again.',
  );
  expect(contextText(last(1), 1)).toBe('Row 2 begins. It shows the prompt and turn 1 again.');
  expect(contextText(last(1), 2)).toBe('Row 3 begins. It shows the prompt and turn 2 again. Forgotten: turn 1.');
  expect(contextText(last(2), 5)).toBe('Row 6 begins. It shows the prompt and turns 4–5 again. Forgotten: turns 1–3.');
  expect(contextText({ shown: 'observe', shownTurns: 1 }, 2)).toBe(
    'Row 3 begins. It shows the prompt and what observe() returns instead of turns 1–2.',
  );
});
