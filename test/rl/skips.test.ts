import { expect, test } from 'vitest';
import type { StepStats } from '../../src/model/policyReport.ts';
import { explainSkips } from '../../src/rl/skips.ts';

const step = (skipped: StepStats['skipped'], culprit: string): StepStats => ({
  ...{ policyLoss: 0, entropy: 0, kl: 0, clipFraction: 0, clipFractionLower: 0, approxKl: 0, valueLoss: 0, total: 0 },
  observationLoss: 0,
  teacherKl: 0,
  ...{ gradNorm: 0, criticGradNorm: 0, tokens: 1, skipped, culprit },
});

test('a skipped step is explained by its culprit and what helps against that; steps without a token are none', () => {
  expect(explainSkips(3, [step('', ''), step('empty', '')])).toBeNull();
  const told = (culprit: string) => explainSkips(3, [step('', ''), step('non-finite', culprit)]);
  const message = (culprit: string) =>
    `Update 3, optimizer step 2 of 2: ${culprit} is not finite, so the step was skipped.`;
  expect(told('weight lm_head.weight')).toMatchObject({
    message: message('weight lm_head.weight'),
    hint: 'A weight that is not finite stays so. Reset the run.',
    cause: 'non-finite',
  });
  expect(told('gradient lm_head.weight')).toMatchObject({
    hint: 'Lower the learning rate or the gradient clip and continue, or reset the run.',
    fields: ['learningRate', 'maxGradNorm'],
  });
  expect(told('')).toMatchObject({ message: message('the gradient') });
  for (const culprit of ['weight lm_head.weight in f16', 'gates or ups of layer 1 in f16']) {
    expect(told(culprit)).toMatchObject({
      message: message(culprit),
      hint: expect.stringContaining('65,504') as string,
      fields: ['storage'],
    });
  }
});
