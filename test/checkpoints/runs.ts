import { readCheckpoint } from '../../src/runs/checkpoint.ts';
import { parseConfig } from '../../src/config/config.ts';
import { type PackedRun, packedRun } from '../../src/runs/packed.ts';
import { runWithDefaults } from '../../src/runs/run.ts';
import { RunLog } from '../../src/runs/runLog.ts';
import type { Host } from '../../src/session/host.ts';
import { openSession, type Session } from '../../src/session/session.ts';
import type { RunEvent } from '../../src/wire/commands.ts';
import { servesBytes } from '../text/bytesTokenizer.ts';
import { bareHost } from '../bareHost.ts';

/** Runs small enough for a unit test. */
export const TINY = {
  ...{ prompts: 4, groupSize: 2, minibatches: 2, updates: 9, evalEvery: 2, evalTasks: 8, warmStart: 'none', seed: 7 },
  ...{ layers: 1, width: 16, heads: 2, kvHeads: 2, ffn: 16, maxTurns: 3, backend: 'cpu' },
};

const host: Host = { ...bareHost, shippedFile: servesBytes };

/** A run under way: its session, and what a log makes of its events. */
export interface Running {
  readonly session: Session;
  readonly log: RunLog;
}

/** Opens a tiny run, or goes on with a packed one. */
export async function open(knobs: Readonly<Record<string, unknown>>, from: PackedRun | null = null): Promise<Running> {
  const ready: Extract<RunEvent, { type: 'ready' }>[] = [];
  const checkpoint = from && readCheckpoint(structuredClone(from.checkpoint));
  const heard = (event: RunEvent) => {
    if (event.type === 'ready') ready.push(event);
  };
  const config = parseConfig({ ...TINY, ...knobs });
  const session = await openSession(config, host, heard, { facts: from?.facts ?? null, resumedFrom: checkpoint });
  const log = new RunLog(runWithDefaults({ id: 3, name: 'a <b>run</b> | of *tests*', started: '2026-01-02T03:04:05.000Z', begun: config })); // prettier-ignore
  for (const event of ready) log.add(event);
  return { session, log };
}

/** Trains to the end of an update. */
export async function to({ session, log }: Running, update: number): Promise<void> {
  for (;;) {
    const { value } = (await session.events.next()) as { value: RunEvent };
    if (value.type !== 'answer' && value.type !== 'checkpoint' && value.type !== 'alive') log.add(value);
    if (value.type === 'metrics' && value.update === update) return;
  }
}

/** The run as it can be exported. */
export async function packed({ session, log }: Running): Promise<PackedRun> {
  return packedRun({ ...log.run, checkpoint: await session.checkpoint() });
}
