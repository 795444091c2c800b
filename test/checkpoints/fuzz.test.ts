import { beforeAll, describe, expect, it } from 'vitest';
import { FILES, type Files } from '../../src/checkpoints/checkpointFolder.ts';
import { foreignCheckpoint } from '../../src/checkpoints/foreignModel.ts';
import { readCheckpointFiles } from '../../src/checkpoints/read.ts';
import { checkpointFiles } from '../../src/checkpoints/write.ts';
import { FormatError } from '../../src/formats/formatProblem.ts';
import { decodeSafetensors } from '../../src/formats/safetensors.ts';
import { filesOfZip, zipOf } from '../../src/formats/zip.ts';
import { checksumOf } from '../../src/base/checksum.ts';
import { Purpose, random, type Random } from '../../src/base/rng.ts';
import type { PackedRun } from '../../src/runs/packed.ts';
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

/** Reads; what comes of it is what `same` accepts, or FormatError that says file, got, want and what to do, in little time. */
function judge(read: () => unknown, same: (value: unknown) => boolean, what: string): 'read' | 'refused' {
  const seconds = processorClock();
  try {
    const value = read();
    expect(same(value), `${what} was read as something else`).toBe(true);
    return 'read';
  } catch (error) {
    if (!(error instanceof FormatError)) throw error;
    expect(error.problems.length).toBeGreaterThan(0);
    for (const { file, got, want, remedy } of error.problems) {
      expect(
        [file, got, want, remedy].every((part) => part.length > 0),
        `${what}: ${error.message}`,
      ).toBe(true);
    }
    return 'refused';
  } finally {
    expect(seconds(), what).toBeLessThan(MOST_SECONDS);
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

/** Cuts, flips, doubles or swaps bytes. */
function damaged(bytes: Uint8Array, { int, next }: Random, within = bytes.length): Uint8Array {
  const kind = int(4);
  if (kind === 0) return bytes.slice(0, int(bytes.length));
  const copy = bytes.slice();
  if (kind === 1) for (let flips = 1 + int(4); flips > 0; flips--) copy[int(within)]! ^= 1 << int(8);
  else if (kind === 2) copy.copyWithin(int(within), int(within), int(within));
  else copy.fill(next() < 0.5 ? 0 : 255, int(within), int(within));
  return copy;
}

const ODD = ['0', '-1', '1e9', '0.5', 'null', '"x"', '[]', '{}', '18446744073709551616', 'true', '""', '-0', '1e999', '{"a":1,"a":2}']; // prettier-ignore

/** JSON text with one number or text in it replaced, doubled or gone. */
function damagedJson(bytes: Uint8Array, { int, pick }: Random): Uint8Array {
  const text = new TextDecoder().decode(bytes);
  const tokens = [...text.matchAll(/-?\d[\d.e+-]*|"[^"\\]*"|true|false|null|[,:{}[\]]/g)];
  const one = pick(tokens);
  const other =
    [...ODD, '"__proto__"', '"constructor"', one[0] + one[0], '', pick(tokens)[0]][int(ODD.length + 5)] ?? '';
  return new TextEncoder().encode(text.slice(0, one.index) + other + text.slice(one.index + one[0].length));
}

describe('of damaged files each is refused with file, got, want and what to do, or reads to what it was', () => {
  it('250 zips', () => {
    const draw = random(41, Purpose.environment);
    const same = equalTo({ ...run, health: [] });
    let refused = 0;
    for (let i = 0; i < 250; i++) {
      const bytes = damaged(zip, draw, i % 2 ? zip.length : 4000);
      if (judge(() => ours(filesOfZip('run.zip', bytes)), same, `zip ${i}`) === 'refused') refused++; // prettier-ignore
    }
    expect(refused).toBeGreaterThan(150);
  });

  it.each([FILES.manifest, FILES.metrics, FILES.training, FILES.weights])('80 folders with a damaged %s', (name) => {
    const draw = random(43, Purpose.environment);
    const whole = files.get(name) ?? new Uint8Array();
    const same = equalTo({ ...run, health: [] });
    let refused = 0;
    for (let i = 0; i < 80; i++) {
      const bytes = name.endsWith('.safetensors') || i % 4 === 0 ? damaged(whole, draw) : damagedJson(whole, draw);
      const read = () => ours(new Map([...files, [name, bytes]]));
      if (judge(read, same, `${name} ${i}`) === 'refused') refused++;
    }
    expect(refused).toBeGreaterThan(60);
  });

  it.each([FILES.config, FILES.tokenizer])('120 folders of another program with a damaged %s', (name) => {
    const draw = random(47, Purpose.environment);
    const whole = files.get(name) ?? new Uint8Array();
    const { config, vocabulary } = run.checkpoint;
    const foreign = (from: Files) => {
      const read = readCheckpointFiles(from);
      return read.kind === 'foreign' && foreignCheckpoint(read.model, config, vocabulary);
    };
    const plain = new Map([...files].filter(([file]) => file !== FILES.manifest));
    const same = equalTo(foreign(plain));
    let refused = 0;
    for (let i = 0; i < 120; i++) {
      const bytes = i % 4 === 0 ? damaged(whole, draw) : damagedJson(whole, draw);
      if (judge(() => foreign(new Map([...plain, [name, bytes]])), same, `${name} ${i}`) === 'refused') refused++; // prettier-ignore
    }
    expect(refused).toBeGreaterThan(60);
  });

  it('200 headers of safetensors', () => {
    const draw = random(53, Purpose.environment);
    const whole = files.get(FILES.weights) ?? new Uint8Array();
    const length = Number(new DataView(whole.buffer, whole.byteOffset).getBigUint64(0, true));
    const header = whole.subarray(8, 8 + length);
    // a name or a shape may become another that fits: then it is the reader of the model who misses the one it wants
    const numbersOf = (file: Uint8Array) =>
      Array.from(decodeSafetensors(file, FILES.weights).tensors.values(), ({ values }) => values);
    const same = equalTo(numbersOf(whole));
    let refused = 0;
    for (let i = 0; i < 200; i++) {
      const changed = damagedJson(header, draw);
      const bytes = new Uint8Array(8 + changed.length + whole.length - 8 - length);
      new DataView(bytes.buffer).setBigUint64(0, BigInt(changed.length), true);
      bytes.set(changed, 8);
      bytes.set(whole.subarray(8 + length), 8 + changed.length);
      if (judge(() => numbersOf(bytes), same, `header ${i}`) === 'refused') refused++;
    }
    expect(refused).toBeGreaterThan(120);
  });
});
