import { expect, test } from 'vitest';
import { parseConfig } from '../src/config/config.ts';
import { PRESETS } from '../src/config/presets.ts';
import { createEnv } from '../src/envs/index.ts';
import type { Gpu } from '../src/gpu/device.ts';
import { variantsOf } from '../src/model/gpu/kernelSets.ts';
import { drawsOf, rowOrder, slotCounts } from '../src/model/gpu/slots.ts';
import { drawsTurns, turnBytes, turnSpan } from '../src/model/gpu/turnPlan.ts';
import { policySpec } from '../src/session/policySpec.ts';

test('plans are recorded for eighths of the rows and for less in blocks of sixteen, once each, and always for all', () => {
  expect(slotCounts(256)).toEqual([16, 32, 64, 96, 128, 160, 192, 224, 256]);
  expect(slotCounts(40)).toEqual([16, 32, 40]);
  expect(slotCounts(6)).toEqual([6]);
});

test('rows that work take the first slots, in their order; the others follow, each once', () => {
  expect(rowOrder(6, (b) => b % 2 === 1)).toEqual({ rows: [1, 3, 5, 0, 2, 4], working: 3 });
});

const CHUNK = {
  maxTokens: 3,
  forced: Int32Array.of(5, 6, 7, 8, 0, 0, 0, 0, 0, 9, 4, 0),
  forcedCounts: Int32Array.of(3, 1, 0, 2),
  forcedRoles: Int32Array.of(1, 3, 3, 1),
  states: Int32Array.of(-1, 0, 2, 0),
  budgets: Int32Array.of(5, 5, 2, 5),
};

test('a row draws after what is forced on it, within its budget and the chunk, unless its state says nothing', () => {
  expect(drawsOf(CHUNK)).toEqual(Int32Array.of(0, 2, 2, 1));
});

test('on hardware the model of number hunt draws a turn in one dispatch, in workgroup memory that every GPU has', () => {
  const specOf = (knobs: object) => {
    const config = parseConfig({ ...PRESETS['number-hunt'].set, ...knobs });
    return policySpec(config, createEnv(config), null);
  };
  const gpu = (software: boolean, lanes = 32, maxComputeWorkgroupStorageSize = 16_384) =>
    ({ software, lanes, device: { limits: { maxComputeWorkgroupStorageSize } } }) as Gpu;
  const turns = (on: Gpu, knobs = {}, set: 'plain' | 'shared' = 'shared') =>
    drawsTurns(on, variantsOf(on, set), specOf(knobs), 'f32');
  expect(turnBytes(specOf({}))).toBe(3760);
  expect(turnSpan(gpu(false))).toBe(64); // as many tokens as a chunk has
  expect([turns(gpu(false)), turns(gpu(false), {}, 'plain')]).toEqual([true, true]);
  // in software only tiles, which tests choose
  expect([turns(gpu(true, 4)), turns(gpu(true, 8))]).toEqual([true, true]);
  expect([turns(gpu(true, 4), {}, 'plain'), turns(gpu(true, 8), {}, 'plain')]).toEqual([false, false]);
  expect(turns(gpu(false, 32, turnBytes(specOf({})) - 4))).toBe(false);
  expect(turns(gpu(false), { ffn: 98 })).toBe(false); // no vectors of four
  // 128 rows load .41 MB each for a token, then 1.2 MB, more than 128 MiB together; 64 rows may
  const wide = { width: 64, ffn: 176 };
  expect(turns(gpu(false), wide)).toBe(true);
  expect(turns(gpu(false), { ...wide, layers: 6 })).toBe(false);
  expect(turns(gpu(false), { ...wide, layers: 6, prompts: 8 })).toBe(true);
});
