import type { RunConfig } from '../../src/config/config.ts';
import type { Weights } from '../../src/model/architecture.ts';
import type { BatchView, RecordedRow } from '../../src/domain/batch.ts';
import type { RunEvent } from '../../src/wire/commands.ts';
import { openSession, type Session } from '../../src/session/session.ts';
import { bareHost } from '../bareHost.ts';

/** A run, with its batches and the weights after each of its updates, from 0. */
export interface Trained {
  readonly session: Session;
  readonly batches: readonly BatchView[];
  readonly weights: readonly Weights[];
}

/** Trains `updates` updates as the worker does; `between` may ask something after each batch. */
export async function trained(
  config: RunConfig,
  updates: number,
  between: (session: Session, batch: BatchView) => Promise<void> = () => Promise.resolve(),
): Promise<Trained> {
  const session = await openSession(config, bareHost, () => undefined);
  const batches: BatchView[] = [];
  const weights: Weights[] = [];
  while (weights.length <= updates) {
    const event = await pull(session);
    if (event.type === 'batch') {
      batches.push(event.batch);
      await between(session, event.batch);
    }
    if (event.type !== 'metrics') continue;
    const { policy } = await session.policy.readState();
    session.history.keepState(event.update, policy);
    weights.push(policy.weights);
  }
  return { session, batches, weights };
}

async function pull(session: Session): Promise<RunEvent> {
  const next = await session.events.next();
  if (next.done === true) throw new Error('training goes on for ever');
  return next.value;
}

/** The record of one row. */
export function rowOf({ tokens, roles, states, length }: BatchView, row: number): RecordedRow {
  const [from, to] = [row * length, (row + 1) * length];
  return { tokens: tokens.slice(from, to), roles: roles.slice(from, to), states: states.slice(from, to) };
}
