import { expect, test } from 'vitest';
import { checkGolden } from '../../src/cli/goldenCheck.ts';
import { goldens } from './fixtures.ts';

const fixtures = await goldens();

test('there are fixtures to agree with', () => {
  expect(fixtures.length).toBeGreaterThanOrEqual(5);
});

for (const variant of ['barrier-free', 'workgroup'] as const) {
  test.each(fixtures.map((golden) => [golden.name, golden] as const))(
    `the ${variant} kernels agree with PyTorch on %s from logits to AdamW`,
    async (_, golden) => {
      const lines = await checkGolden(navigator.gpu, golden, variant);
      expect(lines.length).toBeGreaterThanOrEqual(9);
      // bounds and their reason stand in test/golden/README.md: f32 sums against float64
      for (const { group, worst, error, bound } of lines)
        expect(error, `${group} (${worst})`).toBeLessThanOrEqual(bound);
    },
  );
}
