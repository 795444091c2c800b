import { type Foreign, foreignCheckpoint } from '../checkpoints/foreignModel.ts';
import type { RunConfig } from '../config/fields.ts';
import type { EnvironmentFile } from '../domain/environmentFile.ts';
import type { Facts } from '../facts/facts.ts';
import { type PackedRun, packedRun } from '../runs/packed.ts';
import { bareRun } from '../runs/run.ts';
import type { Host } from './host.ts';
import { openEnvironment } from './environment.ts';

/** What a new run begins with beside weights. */
interface Beginning {
  readonly name: string;
  readonly config: RunConfig;
  readonly facts: Facts | null;
  readonly environment?: EnvironmentFile | null; // that a person wrote, where it trains on one
}

/**
 * A new run at update 0 that begins with another program's weights, in the environment of `config`. `facts` are the facts that the
 * environment asks about, if it asks about a person's facts. Throws ProblemError with everything in the model that does not fit.
 */
export async function foreignRun(
  foreign: Foreign,
  { name, config, facts, environment = null }: Beginning,
  host: Pick<Host, 'shippedFile' | 'ownEnvironment'>,
): Promise<PackedRun> {
  const { env } = await openEnvironment(config, { facts, chatTokenizer: null }, host);
  const checkpoint = foreignCheckpoint(foreign, config, env.vocabulary);
  const begun = bareRun({ id: 0, name, started: new Date().toISOString(), begun: checkpoint.begun });
  return packedRun({ ...begun, facts, environment, checkpoint });
}
