import { expect, test } from 'vitest';
import { parseConfig } from '../../src/config.ts';
import { hashOf, NOTHING_SELECTED, readHash } from '../../src/ui/hash.ts';

test('the address holds the version and only what differs from the defaults', () => {
  expect(hashOf(parseConfig())).toBe('#/lab?v=1');
  expect(hashOf(parseConfig({ learningRate: 3e-4, lossMask: 'off' }))).toBe('#/lab?v=1&lossMask=off&learningRate=3e-4');
});

test('an address comes back as the same knobs', () => {
  const config = parseConfig({ env: 'multi-hop', seed: 4294967295, adamEps: 1e-10, temperature: 0.7, groupSize: 4 });
  expect(readHash(hashOf(config))).toEqual({ config, selected: NOTHING_SELECTED, corrections: [] });
});

test('a hostile address is clamped and every correction is listed', () => {
  const { config, corrections } = readHash(
    '#/lab?v=1&learningRate=1e9&groupSize=-3&foo=1&layers=abc&epochs=2.4&lossMask=maybe',
  );
  expect(config).toEqual({ ...parseConfig({ learningRate: 0.1, epochs: 2 }), groupSize: 1 });
  expect(corrections).toHaveLength(6);
  expect(corrections.join('\n')).toContain('learningRate: got 1e9, want a number from 0 to 0.1; set to 0.1.');
  expect(corrections.join('\n')).toContain('foo: no such knob');
  expect(corrections.join('\n')).toContain('layers: got abc');
});

test('kernels are named in an address as families with + between, encoded or typed; what names none keeps the default', () => {
  const kernels = 'workgroup+barrier-free+workgroup+slabs';
  const config = parseConfig({ backend: 'gpu', kernels });
  expect(readHash(hashOf(config))).toEqual({ config, selected: NOTHING_SELECTED, corrections: [] });
  expect(readHash(`#/lab?v=1&backend=gpu&kernels=${kernels}`).config).toEqual(config);
  for (const odd of ['workgroup+slabs+slabs', 'auto+persistent', '']) {
    const { config: read, corrections } = readHash(`#/lab?v=1&kernels=${odd}`);
    expect([read.kernels, corrections], odd).toEqual(['auto', [expect.stringContaining('mixture')]]);
    expect(() => parseConfig({ kernels: odd }), odd).toThrow(/mixture/);
  }
});

test.each(['', '#', '#/lab', '#/lab?', '#/nowhere?%%%', '#/lab?v=2'])('%j is read without an exception', (hash) => {
  expect(readHash(hash).config).toEqual(parseConfig());
});

test('names of Object.prototype are no knobs', () => {
  expect(readHash('#/lab?v=1&__proto__=1&constructor=2').corrections).toHaveLength(2);
});

test('what is looked at goes along in the address of every screen, without what is usual', () => {
  const config = parseConfig({ seed: 3 });
  const selected = { held: 12, row: 5, turn: 2, token: 7, channel: 'advantage', hide: 'curves,reward' } as const;
  const hash = '#/group?v=1&seed=3&update=12&rollout=5&turn=2&token=7&channel=advantage&hide=curves,reward';
  expect(hashOf(config, 'group', selected)).toBe(hash);
  expect(readHash(hash)).toEqual({ config, selected, corrections: [] });
  expect(hashOf(config, 'runs', NOTHING_SELECTED)).toBe('#/runs?v=1&seed=3');
});

test('a hostile selection is left out, and told', () => {
  const { selected, corrections } = readHash('#/lab?v=1&update=-1&rollout=1e9&token=x&turn=2.5&channel=__proto__');
  expect(selected).toEqual(NOTHING_SELECTED);
  expect(corrections).toHaveLength(5);
  expect(corrections.join('\n')).toContain('rollout: got 1e9, want a whole number from 0 to 1000000; left out.');
});
