import { gzipSync } from 'node:zlib';
import { parseConfig } from '../config/config.ts';
import { ConfigError } from '../config/problem.ts';
import { EVALUATED_WORDS, evaluatedIn } from '../domain/evaluated.ts';
import { PRESETS } from '../config/presets.ts';
import type { BatchView } from '../domain/batch.ts';
import { recordingText, taskOf } from '../runs/recording.ts';
import { bareRun } from '../runs/run.ts';
import { RunLog } from '../runs/runLog.ts';
import { openSession } from '../session/session.ts';
import { writableFolder, writeWhole } from './files.ts';
import { nodeHost, PUBLIC_FOLDER } from './host.ts';
import { program } from './program.ts';
import { progress } from './progress.ts';

const USAGE = 'npm run record   (trains the first preset and writes public/recording.json)';
const FILE = `${PUBLIC_FOLDER}/recording.json`;
const PRESET = 'number-hunt'; // the page's own first one
const SEED = 7;
/** Updates whose batch is kept: early ones close together, for that is where it learns most. */
const KEPT = [1, 10, 25, 60, 160];
const MOST_KB = 150;
/** Curves that the page draws of it. */
const SHOWN: readonly string[] = ['rollout/success', 'eval/success'];

/** `npm run record`: trains the first preset on the CPU and writes what the page plays before anyone has pressed Run. */
async function main(args: readonly string[]): Promise<number> {
  if (args.length > 0) throw new ConfigError([`record: got ${args.join(' ')}; want nothing.\n  ${USAGE}`]);
  await writableFolder(PUBLIC_FOLDER);
  const config = parseConfig({ ...PRESETS[PRESET].set, backend: 'cpu', seed: SEED, evalTasks: 128 });
  const show = progress(process.stderr, false);
  const { label } = PRESETS[PRESET];
  const log = new RunLog(bareRun({ id: 0, name: label, started: new Date().toISOString(), begun: config }));
  const session = await openSession(config, await nodeHost(false), (event) => {
    if (event.type !== 'ready') return;
    log.hear(event);
    show.ready(event.backend);
  });
  const batches: BatchView[] = [];
  for await (const event of session.events) {
    if (event.type === 'running' && event.finished) break;
    if (event.type === 'error') throw new Error(event.message);
    if (event.type === 'batch' && KEPT.includes(event.batch.update)) batches.push(mostTelling(event.batch));
    if (event.type !== 'metrics') continue;
    log.hear(event);
    if (event.update > 0) show.update(event.update, config.updates, event.values);
  }
  show.end();
  session.dispose();
  const shown = [...log.series].filter(([name]) => SHOWN.includes(name));
  const text = recordingText({
    ...log.run,
    series: new Map(shown),
    batches: batches.map((batch) => ({ batch, config })),
  });
  const kilobytes = gzipSync(text).length / 1000;
  await writeWhole(FILE, `${text}\n`);
  console.log(`${FILE}: ${batches.length} batches, ${log.run.update} updates, ${kilobytes.toFixed(1)} kB gzipped`);
  const heldOut = log.series.get('eval/success');
  console.log(
    `${EVALUATED_WORDS[evaluatedIn(config)].success}, greedy: ${heldOut?.first?.toFixed(3)} → ${heldOut?.latest?.toFixed(3)}`,
  );
  return kilobytes <= MOST_KB ? 0 : 1;
}

/** The task of a batch whose rollouts are paid most differently: there is something to compare. */
function mostTelling(batch: BatchView): BatchView {
  const groups = [...new Set(batch.episodes.map(({ group }) => group))];
  const spread = (group: number) => {
    const rewards = batch.episodes.filter((episode) => episode.group === group).map(({ reward }) => reward);
    return Math.max(...rewards) - Math.min(...rewards);
  };
  return taskOf(
    batch,
    groups.reduce((best, group) => (spread(group) > spread(best) ? group : best)),
  );
}

await program('record', USAGE, main);
