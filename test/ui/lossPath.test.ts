import { expect, test } from 'vitest';
import { lossPath } from '../../src/ui/curves/lossPath.ts';

test('a loss is drawn from 0 at the bottom to its largest at the top, its steps over the whole width', () => {
  const box = { left: 10, top: 0, right: 30, bottom: 100 };
  expect(lossPath([4, 2, 1], box)).toEqual({ path: 'M10.0 0.0L20.0 50.0L30.0 75.0', most: 4 });
  expect(lossPath([4, NaN, 1], box).path).toBe('M10.0 0.0L30.0 75.0');
  expect(lossPath([0, 0], box)).toEqual({ path: 'M10.0 100.0L30.0 100.0', most: 0 });
});
