import type { KeptBatch } from '../../domain/batch.ts';
import { ownLines } from '../../rollouts/writeOwn.ts';
import { traceLines } from '../../rollouts/writeTraces.ts';
import { storedBatch, fetchBatch, isOnlyInWorker } from '../view/batches.ts';
import { currentRun } from '../runs/liveRun.ts';
import { useLive } from '../view/liveStore.ts';
import { question } from '../training/transport.ts';
import { download } from '../browser/fileDownload.ts';
import type { Run } from '../../runs/run.ts';
import { shippedRecording } from '../view/shippedRecording.ts';

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
 * The run whose rollouts are saved: the lab's run with the batch in view or with all batches that its worker keeps. If
 * there is no run, or its worker keeps no batch, the shipped recording.
 */
async function runToSave(
  which: 'view' | 'all',
): Promise<Pick<Run, 'id' | 'name' | 'started' | 'vocabulary' | 'batches'>> {
  const { batch, batchConfig, batchesInWorker, vocabulary } = useLive.getState();
  const run = currentRun();
  if (!run || batchesInWorker.updates.length === 0) return shippedRecording();
  if (which === 'view') return { ...run, vocabulary, batches: batchConfig ? [{ batch, config: batchConfig }] : [] };
  const batches: KeptBatch[] = [];
  for (const update of batchesInWorker.updates) {
    if (isOnlyInWorker(update)) await fetchBatch(update, question);
    const stored = storedBatch(update);
    if (stored) batches.push(stored);
  }
  return { ...run, vocabulary, batches };
}

export async function rolloutLines(
  which: 'view' | 'all',
  format: RolloutFile,
): Promise<{ readonly file: string; readonly lines: readonly string[] }> {
  const { id, name, started, vocabulary, batches } = await runToSave(which);
  const source = { id: `run-${id}`, name, started };
  const lines = batches.flatMap((batch) =>
    format === 'own' ? ownLines(batch, vocabulary) : traceLines(batch, vocabulary, source),
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
