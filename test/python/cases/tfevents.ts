import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { random, Purpose } from '../../../src/base/rng.ts';
import { eventFile } from '../../../src/cli/eventFile.ts';
import { parseConfig } from '../../../src/config/config.ts';
import { METRICS, type Metrics } from '../../../src/domain/metrics.ts';
import { runWithDefaults } from '../../../src/runs/run.ts';
import { addMetrics, RunLog } from '../../../src/runs/runLog.ts';

// A run of 40 updates with every metric that was ended at 30, had been saved at 24 and went on from there; and the same where there was
// no event file before it went on. Beside them its log.
const [, , folder = '.'] = process.argv;
const { normal } = random(1, Purpose.shuffle);
const numbers = (): Metrics => Object.fromEntries(Object.keys(METRICS).map((name) => [name, 1e3 * normal() ** 3]));
const all = Array.from({ length: 41 }, numbers);
const begun = runWithDefaults({ id: 0, name: '', started: '', begun: parseConfig() });
let seconds = 1.7e9;
const now = () => seconds++;

const ended = await eventFile(path.join(folder, 'cut'), begun, now, null);
for (const [update, values] of all.entries()) if (update <= 24) ended.add(update, values);
for (let update = 25; update <= 30; update++) ended.add(update, numbers()); // lost
const { series } = new RunLog(begun);
for (const [update, values] of all.entries()) if (update <= 24) addMetrics(series, update, values);
for (const name of ['cut', 'begun-late']) {
  const goesOn = await eventFile(path.join(folder, name), { ...begun, series, update: 24 }, now, null);
  for (const [update, values] of all.entries()) if (update > 24) goesOn.add(update, values);
}
writeFileSync(path.join(folder, 'log.json'), JSON.stringify(all));
