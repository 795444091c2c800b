import { expect, test } from 'vitest';
import { parseConfig } from '../../src/config/config.ts';
import { PRESETS, type PresetName } from '../../src/config/presets.ts';
import { configStateFromHash, presetConfig } from '../../src/page/knobs/configStore.ts';
import { SCREEN_LIST } from '../../src/page/address/screens.ts';
import { hashOf, DEFAULT_SELECTION, readHash } from '../../src/page/address/hash.ts';

const first = { processReward: 0.5, entropyCoef: 0.02, learningRate: 1e-3, updates: 160 };

test('what an address does not name is the first preset’s, which the front page runs', () => {
  const front = configStateFromHash('').wanted;
  expect(front).toEqual(presetConfig('number-hunt'));
  expect(configStateFromHash('#/lab?seed=9').wanted).toEqual({ ...front, seed: 9 });
  expect(configStateFromHash('#/learn?hide=curves').wanted).toEqual(front);
  expect(configStateFromHash('#/lab?v=2&groupSize=4').wanted).toEqual({ ...front, groupSize: 4 });
});

test('a preset is named in an address, knobs beside it turn it, and one that is none is told', () => {
  for (const preset of Object.keys(PRESETS) as PresetName[]) {
    expect(readHash(`#/?preset=${preset}`), preset).toMatchObject({
      config: presetConfig(preset),
      corrections: [],
    });
    expect(configStateFromHash(`#/lab?v=1&seed=9&preset=${preset}`)).toMatchObject({
      ...{ wanted: { ...presetConfig(preset), seed: 9 }, corrections: [] },
    });
  }
  const { config, corrections } = readHash('#/group?preset=toString');
  expect(config).toEqual(presetConfig('number-hunt'));
  expect(corrections).toEqual([expect.stringMatching(/^preset: toString isn’t one of number-hunt, .*\. Ignored\.$/)]);
});

test('links of the first version keep what they meant: what they do not name is at the fields’ defaults', () => {
  expect(readHash('#/lab?v=1').config).toEqual(parseConfig());
  expect(readHash('#/lab?v=1&seed=9&env=multi-hop').config).toEqual(parseConfig({ seed: 9, env: 'multi-hop' }));
});

test('the address holds the version and every knob that differs from the first preset or from the defaults', () => {
  const named = 'processReward=0.5&entropyCoef=0.02&learningRate=0.001&updates=160';
  expect(hashOf(presetConfig('number-hunt'))).toBe(`#/lab?v=2&${named}`);
  expect(hashOf(parseConfig({ ...first, learningRate: 3e-4, lossMask: 'off' }))).toBe(
    '#/lab?v=2&processReward=0.5&entropyCoef=0.02&lossMask=off&learningRate=3e-4&updates=160',
  );
});

test('an address that the page wrote means the same whichever of the two its reader begins from', () => {
  for (const preset of Object.keys(PRESETS) as PresetName[]) {
    const config = { ...presetConfig(preset), seed: 3 };
    const written = hashOf(config);
    expect(readHash(written), preset).toEqual({ config, selection: DEFAULT_SELECTION, corrections: [] });
    expect(readHash(written.replace('v=2', 'v=1')).config, preset).toEqual(config);
  }
});

test('an address comes back as the same knobs', () => {
  const config = parseConfig({ env: 'multi-hop', seed: 4294967295, adamEps: 1e-10, temperature: 0.7, groupSize: 4 });
  expect(readHash(hashOf(config))).toEqual({ config, selection: DEFAULT_SELECTION, corrections: [] });
});

test('a hostile address is clamped and every correction is listed', () => {
  const { config, corrections } = readHash(
    '#/lab?v=1&learningRate=1e9&groupSize=-3&foo=1&layers=abc&epochs=2.4&lossMask=maybe',
  );
  expect(config).toEqual({ ...parseConfig({ learningRate: 0.1, epochs: 2 }), groupSize: 1 });
  expect(corrections).toHaveLength(6);
  expect(corrections.join('\n')).toContain('learningRate: 1e9 isn’t possible. Use a number from 0 to 0.1. Set to 0.1.');
  expect(corrections.join('\n')).toContain('foo: no such knob');
  expect(corrections.join('\n')).toContain('layers: abc isn’t possible');
});

test('kernels are named in an address by their set; other text is told and left to auto', () => {
  const config = parseConfig({ backend: 'gpu', kernels: 'shared' });
  expect(readHash(hashOf(config))).toEqual({ config, selection: DEFAULT_SELECTION, corrections: [] });
  for (const gone of ['turbo', 'workgroup+turbo', '']) {
    const { config: read, corrections } = readHash(`#/lab?v=1&kernels=${gone}`);
    expect([read.kernels, corrections], gone).toEqual(['auto', [expect.stringMatching(/Use one of auto, .*\. Kept/)]]);
    expect(() => parseConfig({ kernels: gone }), gone).toThrow(/plain, shared/);
  }
});

test.each(['', '#', '#/', '#/lab', '#/lab?', '#?', '#/lab?v=2', '#/lab?&&'])('%j asks for nothing', (hash) => {
  expect(readHash(hash)).toEqual({ config: parseConfig(first), selection: DEFAULT_SELECTION, corrections: [] });
});

test.each([
  ['#/nowhere?%%%', ['#/nowhere: no such screen', '%%%: no such knob']],
  ['#/nowhere', ['Showing lab']],
  [
    '#/group/12',
    [`#/group/12: no such screen. Showing group. The screens are ${SCREEN_LIST.map(([route]) => route).join(', ')}.`],
  ],
  ['#/lab?v=3', ['v: 3 isn’t 1 or 2. Read as 2.']],
  ['#/lab?seed=1&seed=2', ['seed: is there twice, as 1 and 2. The last one counts.']],
  ['#/lab?seed=5?updates=9', ['seed: 5?updates=9 isn’t possible. Use a whole number']],
  ['#/lab?seed=0x10', ['seed: 0x10 isn’t possible. Use a whole number from 0 to 4294967295. Kept at 7.']],
  [
    '#/lab?gamma=0.9000000000000000001',
    ['gamma: 0.9000000000000000001 isn’t possible. Use a number from 0 to 1. Set to 0.9.'],
  ],
  ['#/lab?hide=', ['hide: an empty text can’t be hidden. Use']],
  ['#/lab?%E2%80%AE=1', ['\\u{202e}: no such knob']],
])('%j is read without an exception, and what it did not get is told', (hash, told) => {
  const { corrections } = readHash(hash);
  expect(corrections).toHaveLength(told.length);
  for (const [i, part] of told.entries()) expect(corrections[i]).toContain(part);
});

test('names of Object.prototype are no knobs', () => {
  expect(readHash('#/lab?v=1&__proto__=1&constructor=2').corrections).toHaveLength(2);
});

test('what is looked at goes along in the address of every screen, without what is usual', () => {
  const config = parseConfig({ ...first, seed: 3 });
  const knobs = 'processReward=0.5&entropyCoef=0.02&learningRate=0.001&updates=160&seed=3';
  const selected = {
    ...{ shownUpdate: 12, recorded: 25, row: 5, turn: 2, token: 7, beside: 'file-3' },
    ...({ channel: 'advantage', hide: 'curves,reward' } as const),
  };
  const hash = `#/group?v=2&${knobs}&update=12&recorded=25&rollout=5&turn=2&token=7&beside=file-3&channel=advantage&hide=curves,reward`;
  expect(hashOf(config, { route: 'group', selected })).toBe(hash);
  expect(readHash(hash)).toEqual({ config, selection: selected, corrections: [] });
  expect(hashOf(config, { route: 'runs' })).toBe(`#/runs?v=2&${knobs}`);
});

test('a hostile selection is left out, and told', () => {
  const { selection, corrections } = readHash(
    '#/lab?v=1&update=-1&rollout=1e9&token=x&turn=2.5&beside=file-&channel=__proto__',
  );
  expect(selection).toEqual(DEFAULT_SELECTION);
  expect(corrections).toHaveLength(6);
  expect(corrections.join('\n')).toContain('rollout: 1e9 isn’t a whole number from 0 to 1000000. Ignored.');
});

test('changes of knobs on the way come back as they were, in the order in which they act', () => {
  const config = parseConfig({ seed: 4 });
  const changes = [
    { update: 21, step: 0, set: { lossMask: 'off', advantageMask: 'off' } },
    { update: 21, step: 3, set: { learningRate: 3e-4 } },
    { update: 40, step: 0, set: { aggregation: 'seq-mean-token-sum-norm' } },
  ] as const;
  const hash = hashOf(config, { route: 'lab', changes });
  expect(hash).toContain('changes=21:lossMask:off,21:advantageMask:off,21.3:learningRate:3e-4,40:');
  expect(readHash(hash)).toEqual({ config, selection: DEFAULT_SELECTION, changes, corrections: [] });
  const shuffled = '#/lab?changes=40:temperature:0.5,9.2:topP:0.5,9:topP:0.9,40:topP:0.7';
  expect(readHash(shuffled).changes).toEqual([
    { update: 9, step: 0, set: { topP: 0.9 } },
    { update: 9, step: 2, set: { topP: 0.5 } },
    { update: 40, step: 0, set: { temperature: 0.5, topP: 0.7 } },
  ]);
});

test.each([
  ['21:layers:3', 'layers'],
  ['21:lossMask:maybe', 'maybe'],
  ['0:lossMask:off', '0:lossMask:off'],
  ['21:__proto__:off', '__proto__'],
  ['lossMask', 'lossMask'],
  ['', 'an empty text'],
])('changes=%s is left out and told', (text, named) => {
  const { changes, corrections } = readHash(`#/lab?changes=${text}`);
  expect(changes).toBeUndefined();
  expect(corrections).toEqual([expect.stringContaining(named)]);
});

test('a changed knob out of its range is set to the nearest value, and told', () => {
  const { changes, corrections } = readHash('#/lab?changes=21:temperature:99');
  expect(changes).toEqual([{ update: 21, step: 0, set: { temperature: 5 } }]);
  expect(corrections).toHaveLength(1);
  expect(readHash(`#/lab?changes=${'5:topP:0.5,'.repeat(3000)}`).corrections).toEqual([
    expect.stringMatching(/^changes: .*400/),
  ]);
});
