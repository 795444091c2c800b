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

/** The formats in which rollouts of this page can be saved. */
export const ROLLOUT_FILES = {
  own: { label: 'JSON Lines', file: (run: string) => `${run}-rollouts.jsonl`, hint: 'everything the lab shows' },
  traces: {
    label: 'verifiers traces',
    file: () => 'traces.jsonl',
    hint: 'one episode per line, for the RL libraries “verifiers” and “prime-rl”',
  },
} as const;
export type RolloutFile = keyof typeof ROLLOUT_FILES;

/**
 * The run whose rollouts are saved: the lab's run, with the batch in view or all kept batches; without a run, the
 * recording.
 */
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
    const stored = batchAtHand(update);
    if (stored) batches.push(stored);
  }
  return { ...run, vocabulary, batches };
}

/** The lines of a file with the rollouts of the run or of the recording, and the file's name. */
export async function rolloutLines(
  which: 'view' | 'all',
  format: RolloutFile,
): Promise<{ readonly file: string; readonly lines: readonly string[] }> {
  const { id, name, started, vocabulary, batches } = await runToWrite(which);
  const source = { id: `run-${id}`, name, started };
  const lines = batches.flatMap((kept) =>
    format === 'own' ? ownLines(kept, vocabulary) : traceLines(kept, vocabulary, source),
  );
  return { file: ROLLOUT_FILES[format].file(id > 0 ? `run-${id}` : 'recording'), lines };
}

/** Saves rollouts as a file and says how many there are. */
export async function saveRollouts(which: 'view' | 'all', format: RolloutFile): Promise<string> {
  const { file, lines } = await rolloutLines(which, format);
  if (lines.length === 0) return 'There are no rollouts yet. Run training first.';
  download(file, 'application/jsonl', new Blob([...lines], { type: 'application/jsonl' }));
  return `Saved ${lines.length} rollouts as ${file}.`;
}
