import type { KeptBatch } from '../../domain/batch.ts';
import { ownLines } from '../../rollouts/writeOwn.ts';
import { traceLines } from '../../rollouts/writeTraces.ts';
import { batchAtHand, fetchBatch, isElsewhere } from '../run/batches.ts';
import { currentRun } from '../run/liveRun.ts';
import { live } from '../run/liveStore.ts';
import { question } from '../run/transport.ts';
import { download } from '../export/fileDownload.ts';
import type { Run } from '../../runs/run.ts';
import { recordedRun } from '../replay/shippedRecording.ts';

/** How rollouts of this page are written. */
export const ROLLOUT_FILES = {
  own: { label: 'JSON Lines', file: (run: string) => `${run}-rollouts.jsonl`, hint: 'everything the lab shows' },
  traces: {
    label: 'verifiers traces',
    file: () => 'traces.jsonl',
    hint: 'one episode per line, for the RL libraries “verifiers” and “prime-rl”',
  },
} as const;
export type RolloutFile = keyof typeof ROLLOUT_FILES;

/** The run whose rollouts can be written: the one in the lab, with the batch in view or all that it keeps, else the recording. */
async function runToWrite(
  which: 'view' | 'all',
): Promise<Pick<Run, 'id' | 'name' | 'started' | 'vocabulary' | 'batches'>> {
  const { batch, batchConfig, kept, vocabulary } = live;
  const run = currentRun();
  if (!run || kept.updates.length === 0) return recordedRun();
  if (which === 'view') return { ...run, vocabulary, batches: batchConfig ? [{ batch, config: batchConfig }] : [] };
  const batches: KeptBatch[] = [];
  for (const update of kept.updates) {
    if (isElsewhere(update)) await fetchBatch(update, question);
    const at = batchAtHand(update);
    if (at) batches.push(at);
  }
  return { ...run, vocabulary, batches };
}

/** Rollouts of the run, or of the recording, as lines of a file, and what that is called. */
export async function rolloutLines(
  which: 'view' | 'all',
  as: RolloutFile,
): Promise<{ readonly file: string; readonly lines: readonly string[] }> {
  const { id, name, started, vocabulary, batches } = await runToWrite(which);
  const traced = { id: `run-${id}`, name, started };
  const lines = batches.flatMap((kept) =>
    as === 'own' ? ownLines(kept, vocabulary) : traceLines(kept, vocabulary, traced),
  );
  return { file: ROLLOUT_FILES[as].file(id > 0 ? `run-${id}` : 'recording'), lines };
}

/** Saves rollouts as a file and says how many there are. */
export async function saveRollouts(which: 'view' | 'all', as: RolloutFile): Promise<string> {
  const { file, lines } = await rolloutLines(which, as);
  if (lines.length === 0) return 'There are no rollouts yet. Run training first.';
  download(file, 'application/jsonl', new Blob([...lines], { type: 'application/jsonl' }));
  return `Saved ${lines.length} rollouts as ${file}.`;
}
