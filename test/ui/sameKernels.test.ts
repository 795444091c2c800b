import { expect, test } from 'vitest';
import { parseConfig } from '../../src/config/config.ts';
import { withUsedKernels } from '../../src/page/address/sameKernels.ts';

const NAME = 'shared';

test('kernels that auto took are named, on WebGPU and in a form every reader of knobs accepts', () => {
  const config = parseConfig({ seed: 3 });
  const named = withUsedKernels(config, NAME);
  expect(named).toEqual({ ...config, backend: 'gpu', kernels: NAME });
  expect(parseConfig({ ...named })).toEqual(named);
});

test('there is nothing to name where kernels were asked for, where none are known, and on the CPU', () => {
  for (const asked of ['safe', 'plain', NAME]) {
    expect(withUsedKernels(parseConfig({ kernels: asked }), NAME), asked).toBeNull();
  }
  expect(withUsedKernels(parseConfig(), undefined)).toBeNull();
  expect(withUsedKernels(parseConfig({ backend: 'cpu' }), NAME)).toBeNull();
});
