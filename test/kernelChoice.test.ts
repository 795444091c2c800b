import { expect, test } from 'vitest';
import { findKernelSet, KERNEL_SET_NAMES, kernelSetNamed, knobOfOldName } from '../src/config/kernelChoice.ts';
import * as kernels from '../src/gpu/kernels/index.ts';
import { defaultSet, partsOf, setsFor } from '../src/model/gpu/kernelSets.ts';

test('a set is found by its name, and hardware’s default as older pages wrote it out', () => {
  for (const set of KERNEL_SET_NAMES) expect(kernelSetNamed(set)).toBe(set);
  expect(findKernelSet('workgroup+barrier-free+workgroup+slabs')).toBe('workgroup-products');
  expect(partsOf('workgroup-products')).toEqual({
    ...{ products: 'workgroup', attention: 'barrier-free', reductions: 'workgroup' },
  });
});

test('a name that is no set is refused with those that are', () => {
  for (const name of ['', 'fastest', 'broadcast-4', 'workgroup+slabs', 'constructor']) {
    expect(() => kernelSetNamed(name), name).toThrow(/barrier-free, workgroup, workgroup-products, broadcast-8/);
  }
});

test('a knob of an older page that names what is gone is auto, and other text is none', () => {
  for (const gone of ['broadcast-4', 'workgroup+broadcast-8+barrier-free', 'broadcast-8+slabs+persistent']) {
    expect(knobOfOldName(gone), gone).toBe('auto');
  }
  expect(knobOfOldName('workgroup')).toBe('workgroup');
  for (const odd of ['', 'turbo', 'workgroup+turbo', 'safe']) expect(knobOfOldName(odd), odd).toBeUndefined();
});

test('an adapter runs only broadcasts within its lanes; nothing measured means tiles on hardware, few barriers in software', () => {
  expect(setsFor({ lanes: 4 })).toEqual(['barrier-free', 'workgroup', 'workgroup-products']);
  expect(setsFor({ lanes: 32 })).toContain('broadcast-8');
  expect(defaultSet({ software: false, lanes: 32 })).toBe('workgroup-products');
  expect(defaultSet({ software: true, lanes: 8 })).toBe('broadcast-8');
  expect(defaultSet({ software: true, lanes: 4 })).toBe('barrier-free');
});

test('without subgroups, as on wgpu today, no set takes a kernel that enables them', () => {
  const enabling = Object.values(kernels).filter(
    (each) => typeof each === 'object' && each.wgsl.includes('enable subgroups'),
  );
  // in src/model/gpu all of these stand under broadcast-8 (`npm run test:wgpu` runs the other sets)
  expect(enabling.map(({ name }) => name).toSorted()).toEqual([
    'attention_backward_key_value_shared_rows',
    'attention_backward_query_shared_rows',
    'attention_forward_shared_rows',
    'matmul_broadcast',
    'norm_project_broadcast',
  ]);
  for (const set of setsFor({ lanes: 0 })) expect(Object.values(partsOf(set)), set).not.toContain('broadcast-8');
  for (const software of [true, false]) expect(setsFor({ lanes: 0 })).toContain(defaultSet({ software, lanes: 0 }));
});
