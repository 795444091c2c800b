import { expect, test } from 'vitest';
import { findKernelSet, KERNEL_SET_NAMES, kernelSetNamed } from '../src/config/kernelChoice.ts';
import * as kernels from '../src/gpu/kernels/index.ts';
import { defaultSet, variantsOf } from '../src/model/gpu/kernelSets.ts';

test('a set is found by its name; a name that is no set is refused with those that are', () => {
  for (const set of KERNEL_SET_NAMES) expect(kernelSetNamed(set)).toBe(set);
  for (const name of ['', 'fastest', 'broadcast-4', 'workgroup', 'workgroup+slabs', 'constructor']) {
    expect(findKernelSet(name), name).toBeUndefined();
    expect(() => kernelSetNamed(name), name).toThrow(/plain, shared/);
  }
});

test('sharing means tiles on hardware and where subgroups are small, subgroups of eight lanes on a CPU behind WebGPU', () => {
  const hardware = { software: false, lanes: 32 };
  const llvmpipe = { software: true, lanes: 8 };
  const swiftShader = { software: true, lanes: 4 };
  expect([hardware, llvmpipe, swiftShader].map(defaultSet)).toEqual(['shared', 'shared', 'plain']);
  const tiled = { products: 'tiles', attention: 'none', reductions: 'tiles' };
  expect(variantsOf(hardware, 'shared')).toEqual(tiled);
  expect(variantsOf(swiftShader, 'shared')).toEqual(tiled);
  expect(variantsOf(llvmpipe, 'shared')).toEqual({ products: 'subgroups', attention: 'subgroups', reductions: 'none' });
  for (const gpu of [hardware, llvmpipe, swiftShader]) {
    expect(new Set(Object.values(variantsOf(gpu, 'plain')))).toEqual(new Set(['none']));
  }
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
