import type { KeptBatch } from '../../domain/batch.ts';
import { ownLines } from '../../rollouts/writeOwn.ts';
import { traceLines } from '../../rollouts/writeTraces.ts';
import { batchAtHand, fetchBatch, isElsewhere } from '../run/batches.ts';
import { currentRun } from '../run/liveRun.ts';
import { live } from '../run/liveStore.ts';
import { question } from '../run/transport.ts';
import { download } from '../export/download.ts';

/** How rollouts of this page are written. */
export const ROLLOUT_FILES = {
  own: { label: 'JSON Lines', file: (run: number) => `run-${run}-rollouts.jsonl`, hint: 'everything the panels show' },
  traces: {
    label: 'verifiers traces',
    file: () => 'traces.jsonl',
    hint: 'an Episode a line, as verifiers and prime-rl read it',
  },
} as const;
export type RolloutFile = keyof typeof ROLLOUT_FILES;

/** The batches that can be written: the one in view, or all that the run keeps; from the recording where no run is there. */
async function batchesOf(which: 'view' | 'all'): Promise<KeptBatch[]> {
  const { batch, batchConfig, kept } = live;
  const inView = batchConfig ? [{ batch, config: batchConfig }] : [];
  if (which === 'view' || kept.updates.length === 0) return inView;
  const all: KeptBatch[] = [];
  for (const update of kept.updates) {
    if (isElsewhere(update)) await fetchBatch(update, question);
    const at = batchAtHand(update);
    if (at) all.push(at);
  }
  return all;
}

/** Rollouts of the run as lines of a file. */
export async function rolloutLines(which: 'view' | 'all', as: RolloutFile): Promise<string[]> {
  const run = currentRun();
  const traced = {
    id: `run-${run?.id ?? 0}`,
    name: run?.name ?? 'recording',
    started: run?.started ?? new Date(0).toISOString(),
  };
  const { vocabulary } = live;
  const lines: string[] = [];
  for (const kept of await batchesOf(which)) {
    lines.push(...(as === 'own' ? ownLines(kept, vocabulary) : traceLines(kept, vocabulary, traced)));
  }
  return lines;
}

/** Saves rollouts as a file and says how many there are. */
export async function saveRollouts(which: 'view' | 'all', as: RolloutFile): Promise<string> {
  const lines = await rolloutLines(which, as);
  if (lines.length === 0) return 'There are no rollouts yet: run training first.';
  const name = ROLLOUT_FILES[as].file(currentRun()?.id ?? 0);
  download(name, 'application/jsonl', new Blob(lines, { type: 'application/jsonl' }));
  return `Saved ${lines.length} rollouts as ${name}.`;
}
