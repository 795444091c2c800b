import { type ImportedModel, foreignCheckpoint } from '../checkpoints/foreignModel.ts';
import type { RunConfig } from '../config/fields.ts';
import type { EnvironmentFile } from '../domain/environmentFile.ts';
import type { Facts } from '../facts/facts.ts';
import { type PackedRun, packedRun } from '../runs/packed.ts';
import { runWithDefaults } from '../runs/run.ts';
import type { Host } from './host.ts';
import { openEnvironment } from './environment.ts';

interface RunStart {
  readonly name: string;
  readonly config: RunConfig;
  readonly facts: Facts | null;
  readonly environment?: EnvironmentFile | null; // the environment that a person wrote, if the run trains on one
}

/**
 * Creates a run at update 0 that begins with another program's weights, in the environment of `config`. `facts` are the
 * person's own facts, if the environment asks about them. Throws ProblemError with everything in the model that doesn't
 * fit.
 */
export async function foreignRun(
  foreign: ImportedModel,
  { name, config, facts, environment = null }: RunStart,
  host: Pick<Host, 'shippedFile' | 'ownEnvironment'>,
): Promise<PackedRun> {
  const { env } = await openEnvironment(config, { facts, chatTokenizer: null }, host);
  const checkpoint = foreignCheckpoint(foreign, config, env.vocabulary);
  const run = runWithDefaults({ id: 0, name, started: new Date().toISOString(), begun: checkpoint.begun });
  return packedRun({ ...run, facts, environment, checkpoint });
}
