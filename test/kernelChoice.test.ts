import { expect, test } from 'vitest';
import { choiceNamed, nameOfChoice, uniformChoice } from '../src/config/kernelChoice.ts';
import { defaultChoice, variantsFor } from '../src/model/gpu/kernelSets.ts';

test('a choice is named by one word where it is uniform, by its families where it is mixed, and read back', () => {
  expect(nameOfChoice(uniformChoice('broadcast-8'))).toBe('broadcast-8');
  expect(choiceNamed('workgroup')).toEqual({
    products: 'workgroup',
    attention: 'workgroup',
    reductions: 'workgroup',
    sums: 'whole',
    decoding: 'stepwise',
  });
  const training = { products: 'workgroup', attention: 'broadcast-8', reductions: 'barrier-free' } as const;
  const mixed = { ...training, sums: 'whole', decoding: 'stepwise' } as const;
  expect(nameOfChoice(mixed)).toBe('workgroup+broadcast-8+barrier-free');
  expect(choiceNamed(nameOfChoice(mixed))).toEqual(mixed);
  for (const choice of [mixed, uniformChoice('broadcast-4')]) {
    const persistent = { ...choice, decoding: 'persistent' } as const;
    expect(nameOfChoice(persistent)).toBe(`${nameOfChoice(choice)}+persistent`);
    expect(choiceNamed(nameOfChoice(persistent))).toEqual(persistent);
    const both = { ...persistent, sums: 'slabs' } as const;
    expect(nameOfChoice(both)).toBe(`${nameOfChoice(choice)}+slabs+persistent`);
    expect(choiceNamed(nameOfChoice(both))).toEqual(both);
  }
});

test('a name that is no choice is refused with those that are', () => {
  for (const name of ['', 'fastest', 'workgroup+workgroup+workgroup', 'broadcast-8+broadcast-8']) {
    expect(() => choiceNamed(name), name).toThrow(/barrier-free, workgroup, broadcast-4, broadcast-8/);
  }
});

test('an adapter runs only broadcasts within its lanes; nothing measured means tiles on hardware, few barriers in software', () => {
  expect(variantsFor({ lanes: 0 }).products).toEqual(['barrier-free', 'workgroup']);
  expect(variantsFor({ lanes: 4 }).attention).toEqual(['barrier-free', 'workgroup', 'broadcast-4']);
  expect(variantsFor({ lanes: 32 }).products).toContain('broadcast-8');
  expect(nameOfChoice(defaultChoice({ software: false, lanes: 32 }, { hidden_size: 64 }))).toBe(
    'workgroup+barrier-free+workgroup+slabs',
  );
  expect(nameOfChoice(defaultChoice({ software: true, lanes: 8 }, { hidden_size: 8 }))).toBe('broadcast-8');
  const narrow = { software: true, lanes: 4 };
  expect(nameOfChoice(defaultChoice(narrow, { hidden_size: 64 }))).toBe('broadcast-4');
  expect(nameOfChoice(defaultChoice(narrow, { hidden_size: 63 }))).toBe('barrier-free'); // compiling would cost more
});
