import { expect, test } from 'vitest';
import { parseConfig } from '../../src/config/config.ts';
import { choiceNamed, choiceOf } from '../../src/config/kernelChoice.ts';
import { withKernels } from '../../src/ui/address/sameKernels.ts';

const NAME = 'workgroup+barrier-free+workgroup+slabs';

test('kernels that auto took are named, on WebGPU and in a form every reader of knobs accepts', () => {
  const config = parseConfig({ seed: 3 });
  const named = withKernels(config, choiceNamed(NAME));
  expect(named).toEqual({ ...config, backend: 'gpu', kernels: NAME });
  expect(parseConfig({ ...named })).toEqual(named);
});

test('there is nothing to name where kernels were asked for, where none are known, and on the CPU', () => {
  for (const asked of ['safe', 'workgroup', NAME]) {
    expect(withKernels(parseConfig({ kernels: asked }), choiceNamed(NAME)), asked).toBeNull();
  }
  expect(withKernels(parseConfig(), undefined)).toBeNull();
  expect(withKernels(parseConfig({ backend: 'cpu' }), choiceNamed(NAME))).toBeNull();
});

test('the kernels kept with a run are read back, unless a family is missing or unknown', () => {
  const choice = choiceNamed(NAME);
  expect(choiceOf({ ...choice, why: 'measured' })).toEqual(choice);
  const { sums, ...older } = choice;
  expect(sums).toBe('slabs');
  expect(choiceOf(older)).toBeUndefined();
  expect(choiceOf({ ...choice, products: 'turbo' })).toBeUndefined();
});
