import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { random, Purpose } from '../../../src/base/rng.ts';
import { METRICS } from '../../../src/domain/metrics.ts';
import { bytesUpTo, fileVersion, goesOn, scalars, type Scalar } from '../../../src/formats/tfevents.ts';

// A run of 40 updates with every metric that was ended at 30, had been saved at 24 and went on from there: its event file and its log.
const [, , folder = '.'] = process.argv;
const { normal } = random(1, Purpose.shuffle);
const numbers = (): readonly Scalar[] => Object.keys(METRICS).map((name) => [name, 1e3 * normal() ** 3]);
const all = Array.from({ length: 41 }, numbers);
const lost = Array.from({ length: 6 }, numbers); // updates 25 … 30 of the process that was ended
const steps = (from: number, values: readonly (readonly Scalar[])[]) =>
  values.map((each, i) => scalars(1.7e9 + from + i, from + i, each));
const ended = Buffer.concat([fileVersion(1.7e9), ...steps(0, all.slice(0, 25)), ...steps(25, lost)]);
const kept = ended.subarray(0, bytesUpTo(ended, 24));
const whole = Buffer.concat([kept, goesOn(1.7e9 + 100, 25), ...steps(25, all.slice(25))]);
writeFileSync(path.join(folder, 'events.out.tfevents.1700000000.host.1.0'), whole);
writeFileSync(path.join(folder, 'log.json'), JSON.stringify(all.map((values) => Object.fromEntries(values))));
