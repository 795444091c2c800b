import { expect, test } from 'vitest';
import { findKernelSet, KERNEL_SET_NAMES, kernelSetNamed } from '../src/config/kernelChoice.ts';
import { parseConfig } from '../src/config/config.ts';
import * as kernels from '../src/gpu/kernels/index.ts';
import { chooseKernels, defaultSet, variantsOf } from '../src/model/gpu/kernelSets.ts';

test('a set is found by its name; a name that is no set is refused with those that are', () => {
  for (const set of KERNEL_SET_NAMES) expect(kernelSetNamed(set)).toBe(set);
  for (const name of ['', 'fastest', 'broadcast-4', 'workgroup', 'workgroup+slabs', 'constructor']) {
    expect(findKernelSet(name), name).toBeUndefined();
    expect(() => kernelSetNamed(name), name).toThrow(/plain, shared/);
  }
});

test('tiles on hardware, subgroups of eight lanes on a CPU behind WebGPU that has them', () => {
  const hardware = { software: false, lanes: 32 };
  const llvmpipe = { software: true, lanes: 8 };
  const swiftShader = { software: true, lanes: 4 };
  const adapters = [hardware, llvmpipe, swiftShader];
  expect(adapters.map(defaultSet)).toEqual(['shared', 'plain', 'plain']);
  for (const gpu of adapters)
    expect(variantsOf(gpu, 'shared')).toEqual({ products: 'tiles', attention: 'none', reductions: 'tiles' });
  expect(variantsOf(llvmpipe, 'plain')).toEqual({ products: 'subgroups', attention: 'subgroups', reductions: 'none' });
  for (const gpu of [hardware, swiftShader])
    expect(new Set(Object.values(variantsOf(gpu, 'plain')))).toEqual(new Set(['none']));
});

test('the set is the one that is asked for, else the one the run began with, else the default', () => {
  const gpu = { software: true };
  const resumedKernels = 'shared';
  expect(chooseKernels(gpu, { kernels: 'plain', resumedKernels })).toEqual({ choice: 'plain', why: 'forced' });
  expect(chooseKernels(gpu, { resumedKernels })).toEqual({ choice: 'shared', why: 'resumed' });
  expect(chooseKernels(gpu, {})).toEqual({ choice: 'plain', why: 'default' });
});

test('links and runs of older pages that ask for the default set open with it', () => {
  expect(parseConfig({ kernels: 'safe' }).kernels).toBe('auto');
  expect(() => parseConfig({ kernels: 'constructor' })).toThrow('auto, plain, shared');
});

test('without subgroups, as on wgpu today, no set takes a kernel that enables them', () => {
  const enabling = Object.values(kernels).filter(
    (each) => typeof each === 'object' && each.wgsl.includes('enable subgroups'),
  );
  // in src/model/gpu all of these stand under subgroups (`npm run test:wgpu` runs what does without)
  expect(enabling.map(({ name }) => name).toSorted()).toEqual([
    'attention_backward_key_value_shared_rows',
    'attention_backward_query_shared_rows',
    'attention_forward_shared_rows',
    'matmul_broadcast',
    'norm_project_broadcast',
  ]);
  for (const software of [true, false]) {
    for (const set of KERNEL_SET_NAMES) {
      expect(Object.values(variantsOf({ software, lanes: 0 }, set)), set).not.toContain('subgroups');
    }
  }
});
