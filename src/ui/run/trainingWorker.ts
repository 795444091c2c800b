/** A worker that trains: the lab's own, or one that queued runs have to themselves. */
export function trainingWorker(): Worker {
  return new Worker(new URL('../../worker.ts', import.meta.url), { type: 'module', name: 'training' });
}
