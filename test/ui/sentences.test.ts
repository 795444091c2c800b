import { expect, test } from 'vitest';
import { chartSentence } from '../../src/page/view/chartText.ts';
import { parseConfig } from '../../src/config/config.ts';
import { Series } from '../../src/runs/series.ts';

const HUNT = parseConfig();

function curve(values: readonly number[]): Series {
  const series = new Series();
  values.forEach((y, x) => series.push(x, y));
  return series;
}

test('a chart is told in words', () => {
  expect(chartSentence('actor/entropy', curve([1, 1, 1, 0.2, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1]), HUNT)).toMatch(
    /^Entropy fell to 0\.\d+ nats from 1 over 12/,
  );
  expect(chartSentence('actor/entropy', undefined, HUNT)).toBe('Entropy: nothing measured yet.');
});

test('a share is a percentage in a chart’s words too, as in the headline and the title', () => {
  expect(chartSentence('rollout/success', curve([0.25, 0.25, 0.25, 0.829, 0.829]), HUNT)).toMatch(
    /^Training success rose to \d+ % from 25 %/,
  );
});

test('what is evaluated has its own name in each environment: a share of all tasks where training plays them all', () => {
  const solved = curve([0.25, 0.5, 0.75]);
  expect(chartSentence('eval/success', solved, HUNT)).toMatch(/^Success on all tasks/);
  expect(chartSentence('eval/success', solved, parseConfig({ env: 'multi-hop' }))).toMatch(/^Held-out success/);
});
