import type { EnvironmentFile } from '../domain/environmentFile.ts';
import { runWithDefaults, type Run } from '../runs/run.ts';
import { unpackedRun, type PackedRun } from '../runs/packed.ts';
import type { Host } from '../session/host.ts';
import type { TrainArguments } from './arguments.ts';
import { MAX_FACTS_BYTES } from '../facts/decode.ts';
import type { Facts } from '../facts/facts.ts';
import { parseFacts } from '../facts/parse.ts';
import { callerPath, readWhole } from './files.ts';
import path from 'node:path';
import { readCheckpointFiles } from '../checkpoints/read.ts';
import { visible } from '../base/visible.ts';
import { parseConfig, configAfterChanges } from '../config/config.ts';
import type { RunConfig } from '../config/fields.ts';
import { ConfigError } from '../config/configProblem.ts';
import { checkpointOf } from '../runs/checkpoint.ts';
import { foreignRun } from '../session/foreignRun.ts';
import { readFolder } from './diskFolders.ts';
import { withOwnEnvironment } from './ownEnvironment.ts';

/** A new run, or one that continues from `--from`. Throws ProblemError, and the errors of `continuedRun`. */
export async function freshRun(
  options: TrainArguments,
  host: Host,
  environment: EnvironmentFile | null = null,
): Promise<Run> {
  const { name, config, from } = options;
  const facts = options.facts === null ? null : await readFacts(options.facts);
  if (from !== null) return unpackedRun(await continuedRun(from, { ...options, facts, environment }, host));
  return runWithDefaults({ id: 0, name, started: new Date().toISOString(), begun: config, facts, environment });
}

/** Reads the facts of a file. Throws ProblemError if the file can't be read or used. */
async function readFacts(file: string): Promise<Facts> {
  const { facts, notes } = parseFacts(file, await readWhole(callerPath(file), MAX_FACTS_BYTES));
  for (const note of notes) console.error(note);
  return facts;
}

interface ContinueOptions {
  readonly config: RunConfig; // the knobs of a new run
  readonly requestedKnobs: Partial<RunConfig>; // knobs set by flags or by a preset
  readonly facts: Facts | null;
  readonly environment: EnvironmentFile | null;
}

/**
 * The run with which to continue from a folder or zip. A run of this project continues as it was, with the knobs that
 * were set. For weights of another program a new run begins with them in the requested environment. Throws
 * ProblemError, with everything that doesn't fit, and ConfigError for knobs that can't change during a run.
 */
async function continuedRun(
  place: string,
  { config, requestedKnobs, facts, environment }: ContinueOptions,
  host: Host,
): Promise<PackedRun> {
  const opened = readCheckpointFiles(await readFolder(callerPath(place)));
  if (opened.kind === 'ours') {
    if (facts !== null) {
      throw new ConfigError([
        { what: `--facts ${visible(facts.source)} can’t be combined with --from. A saved run has its own.` },
      ]);
    }
    const { backend = opened.run.begun.backend, ...knobs } = requestedKnobs;
    const { begun, config: savedConfig, ...rest } = opened.run.checkpoint;
    // the run may continue on another backend
    const withBackend = (knobs: RunConfig) => parseConfig({ ...knobs, backend });
    const newConfig = configAfterChanges(withBackend(savedConfig), knobs);
    const checkpoint = checkpointOf({ ...rest, begun: withBackend(begun), config: newConfig });
    const run = withOwnEnvironment(opened.run, environment, place);
    return { ...run, begun: checkpoint.begun, config: newConfig, checkpoint };
  }
  const name = path.basename(callerPath(place));
  return foreignRun(opened.model, { name, config, facts, environment }, host);
}
