import { useConfig } from './config-store.ts';
import { live, useLive } from './live-store.ts';
import { auditMask } from './rollout.ts';
import { useSelection } from './selection-store.ts';

/**
 * `window.__playground.snapshot()`: the page's state as plain data, for tests and for people at the console. Read-only: it
 * is a copy. `batch` counts tokens on the tensors the trainer used.
 */
export function snapshot() {
  const { session, running, finished, update, phase, backend, problem, health, preferences } = useLive.getState();
  const { wanted, applied } = useConfig.getState();
  const { row, token, turn, channel } = useSelection.getState();
  const { batch, isExample, metrics, flags, series } = live;
  return structuredClone({
    session,
    running,
    finished,
    update,
    phase,
    backend,
    problem,
    health,
    preferences,
    config: wanted,
    applied,
    metrics,
    flags,
    points: Object.fromEntries([...series].map(([name, s]) => [name, s.length])),
    selection: { row, token, turn, channel },
    batch: { update: batch.update, rows: batch.rows, length: batch.length, isExample, ...auditMask(batch) },
  });
}

declare global {
  interface Window {
    __playground?: { readonly snapshot: typeof snapshot };
  }
}
