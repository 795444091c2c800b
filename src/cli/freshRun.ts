import type { EnvironmentFile } from '../domain/environmentFile.ts';
import { bareRun, type Run } from '../runs/run.ts';
import { unpackedRun } from '../runs/packed.ts';
import type { Host } from '../session/host.ts';
import type { TrainArguments } from './arguments.ts';
import { continuedRun } from './continuedRun.ts';
import { readFacts } from './readFacts.ts';

/**
 * The run that the flags of `npm run train` ask for: one that begins, or goes on from `--from`. Throws FactsError, and what `continuedRun`
 * throws.
 */
export async function freshRun(
  asked: TrainArguments,
  host: Host,
  environment: EnvironmentFile | null = null,
): Promise<Run> {
  const { name, config, from } = asked;
  const facts = asked.facts === null ? null : await readFacts(asked.facts);
  if (from !== null) return unpackedRun(await continuedRun(from, { ...asked, facts, environment }, host));
  return bareRun({ id: 0, name, started: new Date().toISOString(), begun: config, facts, environment });
}
