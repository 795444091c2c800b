import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import { FILE_NAMES, type Files } from '../../src/checkpoints/checkpointFolder.ts';
import { foreignCheckpoint } from '../../src/checkpoints/foreignModel.ts';
import { readCheckpointFiles } from '../../src/checkpoints/read.ts';
import { checkpointFiles } from '../../src/checkpoints/write.ts';
import { ProblemError } from '../../src/base/problem.ts';
import { decodeSafetensors } from '../../src/formats/safetensors.ts';
import { filesOfZip, zipOf } from '../../src/formats/zip.ts';
import { checksumOf } from '../../src/base/checksum.ts';
import type { PackedRun } from '../../src/runs/packed.ts';
import { damage, damaged, jsonReplacement, type Damage, type Replaced } from '../damage.ts';
import { open, packed, to } from './runs.ts';
import { processorClock } from '../processorClock.ts';

let run: PackedRun;
let files: Files;
let zip: Uint8Array;
beforeAll(async () => {
  const running = await open({ critic: 'separate', estimator: 'gae', rewardModel: 'on', preferenceReward: 1 });
  await to(running, 2);
  run = await packed(running);
  files = checkpointFiles(run);
  zip = zipOf(files);
});

/** Seconds of the processor that a file may take; some hundredths are usual. */
const MOST_SECONDS = 5;

/** Reads; what comes of it is what `same` accepts, or ProblemError that says file, got, want and what to do, in little time. */
function judge(read: () => unknown, same: (value: unknown) => boolean): 'read' | 'refused' {
  const seconds = processorClock();
  try {
    const value = read();
    expect(same(value), 'read as what it was').toBe(true);
    return 'read';
  } catch (error) {
    if (!(error instanceof ProblemError)) throw error;
    expect(error.problems.length).toBeGreaterThan(0);
    for (const { file, got, want, remedy } of error.problems) {
      expect(
        [file, got, want, remedy].every((part) => part.length > 0),
        error.message,
      ).toBe(true);
    }
    return 'refused';
  } finally {
    expect(seconds()).toBeLessThan(MOST_SECONDS);
  }
}

const equalTo = (wanted: unknown) => {
  const sum = checksumOf(wanted);
  return (value: unknown) => checksumOf(value) === sum;
};
const ours = (from: Files) => {
  const read = readCheckpointFiles(from);
  return read.kind === 'ours' ? read.run : 'another program’s';
};

/** How many of the damaged files are refused; the others are read as what they were. */
function refusals<T>(
  cases: fc.Arbitrary<T>,
  how: { readonly seed: number; readonly numRuns: number },
  read: (what: T) => unknown,
  same: (value: unknown) => boolean,
): number {
  let refused = 0;
  const one = (what: T) => {
    if (judge(() => read(what), same) === 'refused') refused++;
  };
  fc.assert(fc.property(cases, one), how);
  return refused;
}

const KINDS = ['cut', 'flip', 'copy', 'fill'] as const;
/** Damage to bytes, of JSON to one of its numbers, texts or marks as well. */
const damageTo = (whole: Uint8Array, json: boolean): fc.Arbitrary<Damage | Replaced> => {
  const ofBytes = damage(whole, KINDS);
  if (!json) return ofBytes;
  return fc.oneof(ofBytes, { weight: 3, arbitrary: jsonReplacement(new TextDecoder().decode(whole)) });
};

describe('of damaged files each is refused with file, got, want and what to do, or reads to what it was', () => {
  it('250 zips', () => {
    const cases = fc.oneof(damage(zip, KINDS), damage(zip, KINDS, 4000));
    const read = (what: Damage) => ours(filesOfZip('run.zip', damaged(zip, what)));
    expect(refusals(cases, { seed: 41, numRuns: 250 }, read, equalTo({ ...run, health: [] }))).toBeGreaterThan(150);
  });

  it.each([FILE_NAMES.manifest, FILE_NAMES.metrics, FILE_NAMES.training, FILE_NAMES.weights])(
    '100 folders with a damaged %s',
    (name) => {
      const whole = files.get(name) ?? new Uint8Array();
      const cases = damageTo(whole, !name.endsWith('.safetensors'));
      const read = (what: Damage | Replaced) => ours(new Map([...files, [name, damaged(whole, what)]]));
      expect(refusals(cases, { seed: 43, numRuns: 100 }, read, equalTo({ ...run, health: [] }))).toBeGreaterThan(60);
    },
  );

  it.each([FILE_NAMES.config, FILE_NAMES.tokenizer])('120 folders of another program with a damaged %s', (name) => {
    const whole = files.get(name) ?? new Uint8Array();
    const { config, vocabulary } = run.checkpoint;
    const foreign = (from: Files) => {
      const read = readCheckpointFiles(from);
      return read.kind === 'foreign' && foreignCheckpoint(read.model, config, vocabulary);
    };
    const plain = new Map([...files].filter(([file]) => file !== FILE_NAMES.manifest));
    const read = (what: Damage | Replaced) => foreign(new Map([...plain, [name, damaged(whole, what)]]));
    const cases = damageTo(whole, true);
    expect(refusals(cases, { seed: 47, numRuns: 120 }, read, equalTo(foreign(plain)))).toBeGreaterThan(60);
  });

  it('200 headers of safetensors', () => {
    const whole = files.get(FILE_NAMES.weights) ?? new Uint8Array();
    const length = Number(new DataView(whole.buffer, whole.byteOffset).getBigUint64(0, true));
    const header = whole.subarray(8, 8 + length);
    // a name or a shape may become another that fits: then it is the reader of the model who misses the one it wants
    const numbersOf = (file: Uint8Array) =>
      Array.from(decodeSafetensors(file, FILE_NAMES.weights).tensors.values(), ({ values }) => values);
    const read = (what: Replaced) => {
      const changed = damaged(header, what);
      const bytes = new Uint8Array(8 + changed.length + whole.length - 8 - length);
      new DataView(bytes.buffer).setBigUint64(0, BigInt(changed.length), true);
      bytes.set(changed, 8);
      bytes.set(whole.subarray(8 + length), 8 + changed.length);
      return numbersOf(bytes);
    };
    const cases = jsonReplacement(new TextDecoder().decode(header));
    expect(refusals(cases, { seed: 53, numRuns: 200 }, read, equalTo(numbersOf(whole)))).toBeGreaterThan(120);
  });
});
