import { parseConfig } from '../../src/config/config.ts';
import type { Metrics } from '../../src/domain/metrics.ts';
import { openSession } from '../../src/session/session.ts';
import { host } from './host.ts';

// the least of everything: what is compared is bits, not learning
export const TINY = {
  env: 'multi-hop',
  entities: 4,
  relations: 2,
  prompts: 2,
  groupSize: 2,
  layers: 1,
  width: 8,
  heads: 2,
  kvHeads: 1,
  ffn: 12,
  estimator: 'gae',
  critic: 'separate',
  warmStart: 'none',
  backend: 'gpu',
  updates: 4,
  evalEvery: 2,
  evalTasks: 4,
  seed: 5,
};

/** Trains a run to its end: its numbers and the checksum of its weights. */
export async function train(changes: Readonly<Record<string, unknown>>) {
  const session = await openSession(parseConfig({ ...TINY, ...changes }), host, () => undefined);
  const metrics: Metrics[] = [];
  for await (const event of session.events) {
    if (event.type === 'error') throw new Error(event.message);
    if (event.type === 'running') break;
    if (event.type === 'metrics') metrics.push(event.values);
  }
  const hash = await session.parametersHash();
  session.dispose();
  return { hash, metrics };
}
